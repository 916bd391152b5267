//! Text that is shown to a person: control characters cannot control the terminal, and nothing is invisible.

use std::borrow::Cow;

use symphony_prompt::is_hidden;

/// Joiners shape letters and emoji: between these they are part of the text, elsewhere they only hide something.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// Makes every control character except line feed and tab, and every character that shows nothing, visible.
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
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let after = characters.peek().copied();
        if character == '\r' && after == Some('\n') {
            continue;
        }
        let joins =
            JOINERS.contains(&character) && is_joined(before) && after.is_some_and(is_joined);
        before = if is_active(character) && !joins {
            picture(character)
        } else {
            character
        };
        result.push(before);
    }
    Cow::Owned(result)
}

/// Returns whether a character controls a terminal, reorders what is shown, or shows nothing.
fn is_active(character: char) -> bool {
    character != '\n' && character != '\t' && is_hidden(character)
}

/// Returns whether a character belongs to a script or a set of pictures that joiners shape: none that is written in
/// Latin letters.
fn is_joined(character: char) -> bool {
    character >= '\u{600}' && !is_hidden(character) && character != char::REPLACEMENT_CHARACTER
}

/// Returns what is shown in place of such a character.
pub(crate) fn picture(character: char) -> char {
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
            ("zero\u{200b}width\u{feff}", "zero\u{fffd}width\u{fffd}"),
            (
                "sh\u{ad}y \u{2060}\u{e0041}",
                "sh\u{fffd}y \u{fffd}\u{fffd}",
            ),
            (
                "می\u{200c}خواهم 👩\u{200d}💻",
                "می\u{200c}خواهم 👩\u{200d}💻",
            ),
            ("pay\u{200d}pal \u{200c}", "pay\u{fffd}pal \u{fffd}"),
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
            let remaining: Vec<char> = once.chars().filter(|c| is_active(*c)).collect();
            proptest::prop_assert!(remaining.iter().all(|c| JOINERS.contains(c)), "{remaining:?}");
            proptest::prop_assert_eq!(neutralised(&once), once.as_str());
        }
    }
}
