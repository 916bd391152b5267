//! Texts made fit for a line.

use std::borrow::Cow;

use symphony_core::wording::counted;
use symphony_runner::output::neutralised;

/// Returns a text as one harmless line: white space collapsed, control characters made visible.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
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

/// Returns a count with its noun: `1 run`, `2 runs`, `2 processes`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
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

    proptest::proptest! {
        #[test]
        fn no_control_character_survives(text in "\\PC*|.*|[\\x00-\\x1f\\x7f-\\x9f]*") {
            proptest::prop_assert!(!one_line(&text).chars().any(char::is_control));
        }
    }
}
