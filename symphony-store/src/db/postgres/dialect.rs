//! What PostgreSQL's texts have otherwise than SQLite's. Pure.
//!
//! The store words its statements so that both take them, and PostgreSQL's schema has the few functions of SQLite that they use.
//! What remains are hints for SQLite's planner, which PostgreSQL does without, the form of parameters, and a name.

use std::fmt::Write as _;

/// A part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A keyword, a name or a number.
    Word(&'a str),
    /// A text or a name in quotes, with them.
    Quoted(&'a str),
    /// A parameter: its number, or nothing where the next one is meant.
    Parameter(&'a str),
    /// White space.
    Space,
    /// Any other character.
    Sign(char),
}

/// Returns a statement of the store as PostgreSQL takes it.
pub(super) fn translate(sql: &str) -> String {
    let tokens = tokens(sql);
    let mut out = String::with_capacity(sql.len() + 16);
    let (mut rest, mut parameters) = (tokens.as_slice(), 0);
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            // which index to use, or none
            Token::Word("INDEXED") if is_words(after, &["BY"]) => rest = skip(after, 2),
            Token::Word("NOT") if is_words(after, &["INDEXED"]) => rest = skip(after, 1),
            Token::Sign('+') if matches!(after.first(), Some(Token::Word(_))) => {}
            // tables in the given order
            Token::Word("CROSS") if has_condition(after) => rest = skip(after, 0),
            // by itself it is a function there
            Token::Word("user") => out.push_str("\"user\""),
            Token::Word(text) | Token::Quoted(text) => out.push_str(text),
            Token::Parameter(number) => {
                let number = numbered(number, &mut parameters);
                let _written = write!(out, "${number}");
            }
            Token::Space => out.push(' '),
            Token::Sign(sign) => out.push(*sign),
        }
    }
    out
}

/// Returns the number of a parameter; `count` is how many came before.
fn numbered(number: &str, count: &mut usize) -> usize {
    *count += 1;
    number.parse().unwrap_or(*count)
}

/// Returns what follows a number of words, and the space before it.
fn skip<'t, 'a>(mut tokens: &'t [Token<'a>], words: usize) -> &'t [Token<'a>] {
    let mut left = words;
    while let Some((token, after)) = tokens.split_first() {
        match token {
            Token::Space => {}
            Token::Word(_) if left > 0 => left -= 1,
            _ => break,
        }
        tokens = after;
    }
    tokens
}

/// Returns whether these words come next.
fn is_words(tokens: &[Token<'_>], words: &[&str]) -> bool {
    words.iter().enumerate().all(|(index, word)| {
        let next = skip(tokens, index);
        next.first() == Some(&Token::Word(word))
    })
}

/// Returns whether a join that begins with `JOIN` has a condition, after a table and the name that it may have here.
fn has_condition(tokens: &[Token<'_>]) -> bool {
    let after_table = skip(tokens, 2);
    let after_name = skip(tokens, 3);
    let is_hinted = is_words(after_name, &["INDEXED", "BY"]);
    let end = if is_hinted {
        skip(after_name, 3)
    } else {
        after_name
    };
    is_words(tokens, &["JOIN"]) && (is_words(after_table, &["ON"]) || is_words(end, &["ON"]))
}

fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let after_first = rest.strip_prefix(first).unwrap_or_default();
        let more = match first {
            '\'' | '"' => after_first
                .find(first)
                .map_or(after_first.len(), |end| end + 1),
            '?' => length_of(after_first, |c| c.is_ascii_digit()),
            _ if is_in_word(first) => length_of(after_first, is_in_word),
            _ if first.is_whitespace() => length_of(after_first, char::is_whitespace),
            _ => 0,
        };
        let (text, after) = rest.split_at(first.len_utf8() + more);
        rest = after;
        tokens.push(match first {
            // a quote in a text is doubled, and begins the next token
            '\'' | '"' => Token::Quoted(text),
            '?' => Token::Parameter(after_first.get(..more).unwrap_or_default()),
            _ if is_in_word(first) => Token::Word(text),
            _ if first.is_whitespace() => Token::Space,
            _ => Token::Sign(first),
        });
    }
    tokens
}

const fn is_in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn length_of(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_parameters_and_names_are_written_as_postgresql_has_them() {
        for (ours, theirs) in [
            (
                "SELECT * FROM run INDEXED BY run_live WHERE id = ?1",
                "SELECT * FROM run WHERE id = $1",
            ),
            (
                "SELECT 1 FROM run NOT INDEXED WHERE a NOT IN (?, ?)",
                "SELECT 1 FROM run WHERE a NOT IN ($1, $2)",
            ),
            (
                "WHERE +project = ?1 AND (+state = ?2) AND a + b > 1",
                "WHERE project = $1 AND (state = $2) AND a + b > 1",
            ),
            (
                "FROM q CROSS JOIN issue i INDEXED BY x ON i.q = q.id",
                "FROM q JOIN issue i ON i.q = q.id",
            ),
            (
                "FROM q CROSS JOIN issue i ON i.q = q.id",
                "FROM q JOIN issue i ON i.q = q.id",
            ),
            (
                "FROM q CROSS JOIN issue ON issue.q = q.id",
                "FROM q JOIN issue ON issue.q = q.id",
            ),
            (
                "FROM q CROSS JOIN (SELECT 1) way LEFT JOIN d ON d.id = q.id",
                "FROM q CROSS JOIN (SELECT 1) way LEFT JOIN d ON d.id = q.id",
            ),
            (
                "SELECT source, user FROM comment c WHERE c.user = 'user ?1'",
                "SELECT source, \"user\" FROM comment c WHERE c.\"user\" = 'user ?1'",
            ),
            ("SELECT 'it''s ?' || ?1", "SELECT 'it''s ?' || $1"),
        ] {
            assert_eq!(translate(ours), theirs);
        }
    }
}
