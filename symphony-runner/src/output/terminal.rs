//! Text that is shown to a person: control characters lose their power over the terminal.

use std::borrow::Cow;

/// Returns the text with every control character but line feed and tab made visible.
///
/// C0 controls and DEL become their pictures (`ESC` → `␛`), so that one still sees what was
/// printed; C1 controls and the characters that reorder or hide text become `U+FFFD`. A carriage
/// return before a line feed is dropped.
pub fn neutralised(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\r' && characters.peek() == Some(&'\n') {
            continue;
        }
        result.push(if is_active(character) {
            picture(character)
        } else {
            character
        });
    }
    Cow::Owned(result)
}

fn is_active(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Bidirectional embeddings, overrides and isolates, line and paragraph separator.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
        character => character.is_control(),
    }
}

fn picture(character: char) -> char {
    let code = u32::from(character);
    let visible = match code {
        0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    visible.unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_visible_and_harmless() {
        let table = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m"),
            ("\u{1b}]0;title\u{7}", "␛]0;title␇"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("nul\0 del\u{7f}", "nul␀ del␡"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("user\u{202e}txt.exe\u{2066}", "user\u{fffd}txt.exe\u{fffd}"),
            ("übung 日本 🎼", "übung 日本 🎼"),
        ];
        for (text, expected) in table {
            assert_eq!(neutralised(text), expected, "{text:?}");
        }
    }

    #[test]
    fn harmless_text_is_not_copied() {
        assert!(matches!(
            neutralised("one line\n\tand another"),
            Cow::Borrowed(_)
        ));
    }

    proptest::proptest! {
        #[test]
        fn the_result_is_inactive_and_stable(text in "\\PC*|.*|[\\x00-\\x1f\\x7f-\\x9f\\n]*") {
            let once = neutralised(&text).into_owned();
            proptest::prop_assert!(!once.chars().any(is_active));
            proptest::prop_assert_eq!(neutralised(&once), once.as_str());
        }
    }
}
