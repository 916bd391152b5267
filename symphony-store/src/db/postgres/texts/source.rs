//! The statements in the store's own sources: every string that begins one, and what `format!` and `concat!` make of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The words that a statement begins with.
const VERBS: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// As it is written.
    Text(String),
    /// What a name or a number in braces stands for.
    Hole(String),
}

/// A statement in a file of the sources.
#[derive(Debug)]
pub(super) struct Found {
    /// The file, from the folder of the sources.
    pub(super) file: String,
    /// The text; holes that constants fill are filled.
    pub(super) parts: Vec<Part>,
}

/// What is known of a constant: its text, or the number that it is.
type Constants = BTreeMap<(String, String), String>;

/// Returns every statement in the sources below a folder, outside of tests.
pub(super) fn statements(folder: &Path) -> Vec<Found> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let files: Vec<(String, Vec<Token>)> = files
        .iter()
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let tokens = without_tests(&tokens(&std::fs::read_to_string(path).unwrap()));
            (name, tokens)
        })
        .collect();
    let mut constants = Constants::new();
    for (file, tokens) in &files {
        constants_of(file, tokens, &mut constants);
    }
    let mut found = Vec::new();
    for (file, tokens) in &files {
        statements_of(file, tokens, &constants, &mut found);
    }
    found
}

/// Returns the files in which a variable with a statement is lengthened.
pub(super) fn builders(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    let mut builders = Vec::new();
    for path in files {
        let tokens = without_tests(&tokens(&std::fs::read_to_string(&path).unwrap()));
        let is_word =
            |index: usize, word: &str| tokens.get(index) == Some(&Token::Word(word.into()));
        let is_builder =
            (0..tokens.len()).any(|index| is_word(index, "mut") && is_word(index + 1, "sql"));
        if is_builder {
            builders.push(path.strip_prefix(folder).unwrap().display().to_string());
        }
    }
    builders
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.ends_with("db/postgres") || path.ends_with("database/server") {
            // its own words to the server: they need no translation
        } else if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

fn statements_of(file: &str, tokens: &[Token], constants: &Constants, found: &mut Vec<Found>) {
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let (parts, next) = match token {
            Token::Text(text) if is_call(tokens, index, "format") => {
                (filled(file, holes(text), constants), index + 1)
            }
            Token::Text(text) => (vec![Part::Text(text.clone())], index + 1),
            Token::Word(word) if word == "concat" && is_sign(tokens, index + 1, '!') => {
                let (text, end) = concatenated(file, tokens, index + 3, constants);
                (vec![Part::Text(text)], end)
            }
            _ => (Vec::new(), index + 1),
        };
        index = next;
        if let Some(Part::Text(first)) = parts.first()
            && is_statement(first)
        {
            let file = file.to_owned();
            found.push(Found { file, parts });
        }
    }
}

fn is_statement(text: &str) -> bool {
    let text = text.trim_start();
    let is_verb = |verb: &str| {
        let after = text.strip_prefix(verb);
        after.is_some_and(|after| after.starts_with(char::is_whitespace))
    };
    VERBS.iter().any(|verb| is_verb(verb))
}

fn is_sign(tokens: &[Token], index: usize, sign: char) -> bool {
    tokens.get(index) == Some(&Token::Sign(sign))
}

/// Returns whether a text is the first argument of a macro.
fn is_call(tokens: &[Token], index: usize, name: &str) -> bool {
    index >= 3
        && is_sign(tokens, index - 1, '(')
        && is_sign(tokens, index - 2, '!')
        && tokens.get(index - 3) == Some(&Token::Word(name.into()))
}

/// Splits a text of `format!`.
fn holes(text: &str) -> Vec<Part> {
    let (mut parts, mut rest, mut number) = (Vec::new(), text, 0);
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once(['{', '}']) {
        plain.push_str(before);
        let sign = rest.as_bytes()[before.len()] as char;
        if let Some(doubled) = after.strip_prefix(sign) {
            plain.push(sign);
            rest = doubled;
            continue;
        }
        let (name, after) = after.split_once('}').unwrap();
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        let name = if name.is_empty() {
            number += 1;
            (number - 1).to_string()
        } else {
            name.to_owned()
        };
        parts.push(Part::Hole(name));
        rest = after;
    }
    plain.push_str(rest);
    parts.push(Part::Text(plain));
    parts
}

/// Fills holes that constants stand in.
fn filled(file: &str, parts: Vec<Part>, constants: &Constants) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        let part = match part {
            Part::Hole(name) => match constant(file, &name, constants) {
                Some(text) => Part::Text(text.to_owned()),
                None => Part::Hole(name),
            },
            text @ Part::Text(_) => text,
        };
        match (all.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}

/// Returns a constant: of the same file, else the only one of its name.
fn constant<'c>(file: &str, name: &str, constants: &'c Constants) -> Option<&'c str> {
    if let Some(text) = constants.get(&(file.to_owned(), name.to_owned())) {
        return Some(text);
    }
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let mut same: Vec<_> = constants
        .iter()
        .filter(|((_, own), _)| own == name)
        .collect();
    if same.len() > 1 {
        same.retain(|((other, _), _)| folder(other) == folder(file));
    }
    match same.as_slice() {
        [(_, text)] => Some(text),
        _ => None,
    }
}

/// Reads `const NAME: &str = "…"`, one that `concat!` makes, a number, and macros that are a text.
fn constants_of(file: &str, tokens: &[Token], constants: &mut Constants) {
    for (index, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(keyword), name] = pair else {
            continue;
        };
        let (name, is_macro) = match (keyword.as_str(), name) {
            ("const", Token::Word(name)) => (name.clone(), false),
            ("macro_rules", Token::Sign('!')) => match tokens.get(index + 2) {
                Some(Token::Word(name)) => (format!("{name}!"), true),
                _ => continue,
            },
            _ => continue,
        };
        let rest = tokens.get(index..).unwrap_or_default();
        let end = if is_macro { '}' } else { ';' };
        let length = rest.iter().position(|token| *token == Token::Sign(end));
        let body = rest.get(..length.unwrap_or(0)).unwrap_or_default();
        let text = body.iter().find_map(|token| match token {
            Token::Text(text) => Some(text.clone()),
            _ => None,
        });
        let number = match body.last() {
            Some(Token::Word(word)) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                Some(word.replace('_', ""))
            }
            _ => None,
        };
        let made = body
            .iter()
            .position(|token| *token == Token::Word("concat".into()));
        let value = match made {
            Some(at) => Some(concatenated(file, body, at + 3, constants).0),
            None => text.or(number),
        };
        if let Some(value) = value {
            constants.insert((file.to_owned(), name), value);
        }
    }
}

/// Reads the texts in `concat!(…)`, and where it ends.
fn concatenated(
    file: &str,
    tokens: &[Token],
    mut index: usize,
    constants: &Constants,
) -> (String, usize) {
    let mut text = String::new();
    while let Some(token) = tokens.get(index) {
        match token {
            Token::Text(part) => text.push_str(part),
            Token::Word(name) if is_sign(tokens, index + 1, '!') => {
                let name = format!("{name}!");
                let part = constant(file, &name, constants);
                text.push_str(part.unwrap_or_else(|| panic!("{file}: no text of {name}")));
                index += 3; // its sign and its empty brackets
            }
            Token::Sign(')') => return (text, index + 1),
            Token::Sign(_) | Token::Word(_) => {}
        }
        index += 1;
    }
    (text, index)
}

/// Leaves out modules for tests.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        let is_test = matches!(rest, [Token::Word(cfg), Token::Sign('('), Token::Word(test), Token::Sign(')'), ..]
            if cfg == "cfg" && test == "test");
        if is_test {
            let mut depth = 0;
            let end = rest.iter().position(|token| {
                match token {
                    Token::Sign('{') => depth += 1,
                    Token::Sign('}') => depth -= 1,
                    _ => {}
                }
                depth == 0 && matches!(token, Token::Sign('}' | ';'))
            });
            rest = rest
                .get(end.map_or(rest.len(), |end| end + 1)..)
                .unwrap_or_default();
        } else {
            kept.push(token.clone());
            rest = after;
        }
    }
    kept
}

/// Splits a source into words, texts and signs, without comments and characters in single quotes.
fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_raw = rest.starts_with("r\"") || rest.starts_with("r#\"");
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if is_raw {
            let hashes = if rest.starts_with("r#") { "#" } else { "" };
            let body = rest.get(2 + hashes.len()..).unwrap_or_default();
            let (text, after) = body.split_once(&format!("\"{hashes}")).unwrap();
            tokens.push(Token::Text(text.to_owned()));
            rest = after;
        } else if first == '"' {
            let (text, after) = quoted(rest.get(1..).unwrap_or_default());
            tokens.push(Token::Text(text));
            rest = after;
        } else if let Some(length) = character(rest) {
            rest = rest.get(length..).unwrap_or_default();
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            tokens.push(Token::Word(word.to_owned()));
            rest = after;
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    tokens
}

/// Returns how long a character in single quotes is; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        let end = inside.get(2..)?.find('\'')?;
        return Some(1 + 2 + end + 1);
    }
    let after = inside.get(first.len_utf8()..)?;
    after.starts_with('\'').then(|| first.len_utf8() + 2)
}

/// Reads a text up to its closing quote, and returns what follows.
fn quoted(body: &str) -> (String, &str) {
    let mut text = String::new();
    let mut rest = body;
    loop {
        let (plain, from) = rest.split_at(rest.find(['"', '\\']).unwrap());
        text.push_str(plain);
        let Some(escaped) = from.strip_prefix('\\') else {
            return (text, from.get(1..).unwrap());
        };
        let sign = escaped.chars().next().unwrap();
        rest = escaped.get(sign.len_utf8()..).unwrap();
        match sign {
            '\n' => rest = rest.trim_start(),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            '0' => text.push('\0'),
            'u' => {
                let (code, after) = rest.trim_start_matches('{').split_once('}').unwrap();
                let code = u32::from_str_radix(code, 16).unwrap();
                text.push(char::from_u32(code).unwrap());
                rest = after;
            }
            other => text.push(other),
        }
    }
}

mod tests {
    use super::*;

    #[test]
    fn what_a_source_composes_is_read_as_rust_reads_it() {
        let source = r#"
            // "SELECT 1 FROM comment"
            macro_rules! of { () => { "(a = ?1)" }; }
            const COLUMNS: &str = "a, b";
            const ROWS: u32 = 1_0;
            const WHOLE: &str = concat!("SELECT c FROM t WHERE ", of!(), " AND b = 'it\"s'");
            fn f<'a>(column: &'a str) -> char {
                q(&format!("SELECT {COLUMNS} FROM t WHERE {column} = '{{}}' \
                            LIMIT {ROWS} {}", x), r"DELETE FROM t\d");
                q("Update nothing"); '"'
            }
            #[cfg(test)] mod tests { fn g() { q("SELECT 2 FROM test"); } }
        "#;
        let tokens = without_tests(&tokens(source));
        let (mut constants, mut found) = (Constants::new(), Vec::new());
        constants_of("f.rs", &tokens, &mut constants);
        statements_of("f.rs", &tokens, &constants, &mut found);
        let text = |text: &str| Part::Text(text.into());
        let hole = |name: &str| Part::Hole(name.into());
        let parts: Vec<Vec<Part>> = found.into_iter().map(|found| found.parts).collect();
        assert_eq!(
            parts,
            [
                vec![text("SELECT c FROM t WHERE (a = ?1) AND b = 'it\"s'")],
                vec![
                    text("SELECT a, b FROM t WHERE "),
                    hole("column"),
                    text(" = '{}' LIMIT 10 "),
                    hole("0"),
                    text("")
                ],
                vec![text("DELETE FROM t\\d")],
            ]
        );
    }
}
