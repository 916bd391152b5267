//! Whether two titles ask for the same: this check prevents agents from creating an issue twice.
//!
//! The measure: the same words in the same order, where case, punctuation and filler words do not count, one slip of
//! the pen a word is forgiven, and compounds may be written apart. Words that merely mean the same are different words,
//! and so are two numbers: refusing a new issue is worse than taking a second one.

/// Words that carry no meaning of their own in a title. `to`, `from`, `with`, `not` and their like do.
const FILLER: [&str; 18] = [
    "a", "an", "are", "at", "be", "by", "for", "in", "is", "it", "must", "of", "on", "please",
    "should", "that", "the", "this",
];
/// Shortest word in which a typo is ignored, in characters: shorter words that differ in one character are often two
/// words.
const SLIP_CHARS_MIN: usize = 5;

/// Returns whether two titles are the same except for case, punctuation, filler words, typos and divided compounds.
pub fn is_near_title(a: &str, b: &str) -> bool {
    let (a, b) = (content_words(a), content_words(b));
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let word_by_word = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_near_word(a, b));
    word_by_word || a.concat() == b.concat()
}

/// Splits a title into its words, in lower case and without fillers.
fn content_words(title: &str) -> Vec<String> {
    let lower = title.to_lowercase();
    let mut words = vec![String::new()];
    let mut chars = lower.chars().peekable();
    while let Some(c) = chars.next() {
        let of_number = matches!(c, '-' | '.') && chars.peek().is_some_and(char::is_ascii_digit);
        let separates = c.is_whitespace() || is_punctuation(c);
        match words.last_mut() {
            // The minus of a number, unless it joins two words.
            Some(word) if of_number && (c == '.' || word.is_empty()) => word.push(c),
            // An apostrophe joins.
            Some(_) if matches!(c, '\'' | '’') => {}
            Some(word) if !separates => word.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty() && !FILLER.contains(&word.as_str()));
    words
}

/// Returns whether a character only separates words. Operators (`+`, `#`, `=`, `<` …) carry meaning.
const fn is_punctuation(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | ':'
            | '.'
            | '!'
            | '?'
            | '"'
            | '`'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '-'
            | '_'
            | '/'
            | '–'
            | '—'
            | '“'
            | '”'
    )
}

/// Returns whether two words are one: equal, or with one letter too many, too few or swapped with its neighbour.
/// Another letter in the same place is more often another word than a typo (`remote`, `remove`), and so is another
/// first letter.
fn is_near_word(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    let (a_chars, b_chars) = (a.chars().count(), b.chars().count());
    let is_compared = a_chars.min(b_chars) + 1 >= SLIP_CHARS_MIN
        && a_chars.max(b_chars) >= SLIP_CHARS_MIN
        && letters(a)
        && letters(b)
        && a.chars().next() == b.chars().next();
    is_compared
        && if a_chars == b_chars {
            is_one_swap(a, b)
        } else {
            a_chars.abs_diff(b_chars) == 1 && strsim::damerau_levenshtein(a, b) == 1
        }
}

fn is_one_swap(a: &str, b: &str) -> bool {
    let differing: Vec<(char, char)> = a.chars().zip(b.chars()).filter(|(a, b)| a != b).collect();
    matches!(differing.as_slice(), [(a, b), (c, d)] if a == d && b == c)
        && strsim::damerau_levenshtein(a, b) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_that_say_the_same_are_near() {
        for (a, b) in [
            ("Fix the login timeout", "fix login timeout."),
            ("Fix login timeout", "Fix: login timeouts"),
            ("Parse dates with time zones", "Parse dates with timezones"),
            (
                "Add retry for HTTP client",
                "Add re-try for the HTTP-client",
            ),
            (
                "Missing tests for `parse_date`",
                "Missing tests of parse date",
            ),
            ("Handle erorrs in reader", "Handle errors in the reader"),
            ("Recieve the header", "Receive the headers"),
            (
                "Document the CLI's exit codes",
                "Document the CLIs exit code",
            ),
            ("Large ", "large"),
            ("Update to v1.2", "Update to V1.2!"),
            ("Überprüfe die Länge", "überprüfe die länge"),
        ] {
            assert!(is_near_title(a, b), "{a} | {b}");
            assert!(is_near_title(b, a), "{b} | {a}");
        }
    }

    #[test]
    fn titles_that_ask_for_something_else_are_not() {
        for (a, b) in [
            ("Part 1", "Part 2"),
            ("Update to v1.2", "Update to v1.3"),
            ("Return 1 on failure", "Return -1 on failure"),
            ("Convert JSON to YAML", "Convert YAML to JSON"),
            ("Import from CSV", "Import to CSV"),
            ("Remote branches", "Remove branches"),
            ("Insert the matrix", "Invert the matrix"),
            ("Read the loader", "Read the header"),
            ("Lock the table", "Unlock the table"),
            ("Allow spaces", "Disallow spaces"),
            ("Run with colour", "Run without colour"),
            ("Do retry", "Do not retry"),
            ("Fix test output", "Fix text output"),
            ("Support C", "Support C++"),
            ("Implement = for dates", "Implement == for dates"),
            ("Add tests for the parser", "Add tests for the lexer"),
            ("Add tests for parser", "Add tests for parser errors"),
            ("Split src/a.rs", "Split src/b.rs"),
            ("Symmetric keys", "Asymmetric keys"),
            ("…", "!"),
            ("", ""),
        ] {
            assert!(!is_near_title(a, b), "{a} | {b}");
        }
    }
}
