//! Texts made fit for a line.

use std::borrow::Cow;

use symphony_core::wording::counted;
use symphony_runner::output::neutralised;

/// Returns a text as one harmless line: white space collapsed, control characters made visible.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| matches!(c, '\n' | '\t' | '\r');
    if !text.contains(breaks) {
        return neutralised(text);
    }
    let words: Vec<&str> = text
        .split(breaks)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    Cow::Owned(neutralised(&words.join(" ")).into_owned())
}

/// Breaks a line at blanks so that it fits a width; what follows a break is indented. What is between backticks is typed
/// by someone, and is not broken: neither is a word that is too long.
pub(super) fn wrapped(line: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (at, token) in tokens(line).into_iter().enumerate() {
        let length = token.chars().count();
        if at > 0 && column > indent && column + 1 + length > width {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&token);
        column += length;
    }
    out
}

/// Splits a line at its blanks, but for those between backticks.
fn tokens(line: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_code = false;
    for word in line.split(' ') {
        match tokens.last_mut() {
            Some(token) if is_code => {
                token.push(' ');
                token.push_str(word);
            }
            _ => tokens.push(word.to_owned()),
        }
        is_code ^= word.matches('`').count() % 2 == 1;
    }
    tokens
}

/// Returns a count with its noun: `1 run`, `2 runs`, `2 processes`.
pub fn plural(count: usize, noun: &str) -> String {
    counted(count as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_one_harmless_line() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a\n\n  b\tc", "a b c"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("a\r\u{1b}]0;x\u{7}", "a ␛]0;x␇"),
            ("", ""),
        ] {
            assert_eq!(one_line(text), expected);
        }
    }

    #[test]
    fn a_line_is_broken_between_words_and_never_in_a_command() {
        for (line, expected) in [
            ("ok       git: 2.47", "ok       git: 2.47"),
            (
                "absent   claude: not there",
                "absent   claude: not\n  there",
            ),
            (
                "to do: `a b c d e f g h i j` now",
                "to do:\n  `a b c d e f g h i j`\n  now",
            ),
            (
                "a-word-that-is-too-long-for-it end",
                "a-word-that-is-too-long-for-it\n  end",
            ),
            ("", ""),
        ] {
            assert_eq!(wrapped(line, 20, 2), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_control_character_survives(text in "\\PC*|.*|[\\x00-\\x1f\\x7f-\\x9f]*") {
            proptest::prop_assert!(!one_line(&text).chars().any(char::is_control));
        }
    }
}
