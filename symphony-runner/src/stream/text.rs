//! Bounded, harmless text: the beginning of a JSON string, and text that cannot steer a terminal.

use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memchr;

/// How much of what the agent said is kept: an answer is rarely longer, and the raw line is on disk.
pub(crate) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How much of a tool's arguments or answer is kept: what a log line shows.
pub(crate) const DETAIL_BYTES_MAX: usize = 4 * 1024;

/// Decodes the beginning of a JSON string as it stands in a document, quotes included; at most about `bytes_max` bytes.
///
/// The document has been validated, so an escape is whole; a lone surrogate becomes U+FFFD. Anything but a string gives
/// the empty text.
pub(crate) fn string_prefix(json: &str, bytes_max: usize) -> String {
    let Some(mut rest) = json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    else {
        return String::new();
    };
    let mut out = String::with_capacity(rest.len().min(bytes_max));
    while !rest.is_empty() && out.len() < bytes_max {
        let room = rest.floor_char_boundary(bytes_max - out.len());
        let plain = memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            let taken = plain.min(room);
            out.push_str(rest.get(..taken).unwrap_or_default());
            if taken < plain {
                break;
            }
            rest = rest.get(plain..).unwrap_or_default();
            continue;
        }
        let (decoded, after) = decode_escape(rest);
        out.push(decoded);
        rest = after;
    }
    out
}

/// Decodes the escape at the beginning of the text; returns the character and what follows.
fn decode_escape(text: &str) -> (char, &str) {
    let after = |bytes: usize| text.get(bytes..).unwrap_or_default();
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', after(2)),
        Some(b't') => ('\t', after(2)),
        Some(b'r') => ('\r', after(2)),
        Some(b'b') => ('\u{8}', after(2)),
        Some(b'f') => ('\u{c}', after(2)),
        Some(b'u') => {
            let Some(first) = hex4(text.get(2..6)) else {
                return (char::REPLACEMENT_CHARACTER, after(2));
            };
            if let Some(found) = char::from_u32(first) {
                return (found, after(6));
            }
            let second = after(6)
                .strip_prefix("\\u")
                .and_then(|low| hex4(low.get(..4)));
            match second {
                Some(low @ 0xDC00..=0xDFFF) if (0xD800..0xDC00).contains(&first) => {
                    let joined = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
                    (
                        char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER),
                        after(12),
                    )
                }
                _ => (char::REPLACEMENT_CHARACTER, after(6)),
            }
        }
        Some(other) if other.is_ascii() => (char::from(*other), after(2)),
        _ => (char::REPLACEMENT_CHARACTER, after(1)),
    }
}

fn hex4(digits: Option<&str>) -> Option<u32> {
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
}

/// Copies the beginning of a text.
pub(crate) fn raw_prefix(text: &str, bytes_max: usize) -> String {
    cut(text, bytes_max).to_owned()
}

/// Digests a text: equal texts have equal digests, within this process.
pub(crate) fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Cuts a text at a character's edge, at most `bytes_max` bytes long.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max))
        .unwrap_or_default()
}

/// Appends a text as one harmless line, at most about `bytes_max` bytes of it, `…` where it was cut.
///
/// Line feeds, tabs and carriage returns are written as `\n`, `\t`, `\r`; other control characters as their pictures
/// (`␛`), C1 controls, line separators and bidirectional or zero-width controls as U+FFFD.
pub fn push_plain(out: &mut String, text: &str, bytes_max: usize) {
    let kept = cut(text, bytes_max);
    let mut rest = kept;
    while !rest.is_empty() {
        let plain = rest
            .bytes()
            .position(|byte| !(0x20..0x7f).contains(&byte))
            .unwrap_or(rest.len());
        let (head, tail) = rest.split_at(plain);
        out.push_str(head);
        let mut characters = tail.chars();
        if let Some(found) = characters.next() {
            push_character(out, found);
        }
        rest = characters.as_str();
    }
    if kept.len() < text.len() {
        out.push('…');
    }
}

fn push_character(out: &mut String, found: char) {
    match found {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\u{0}'..='\u{1f}' => {
            out.push(char::from_u32(0x2400 + u32::from(found)).unwrap_or('\u{fffd}'));
        }
        '\u{7f}' => out.push('\u{2421}'),
        '\u{80}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => out.push('\u{fffd}'),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_decodes_escapes_and_stops_at_the_limit() {
        let cases = [
            (r#""plain""#, 100, "plain"),
            (r#""""#, 100, ""),
            (r#""a\nb\t\"c\"\\\/""#, 100, "a\nb\t\"c\"\\/"),
            (r#""\u00e9\ud83d\ude00!""#, 100, "é😀!"),
            (r#""\ud83d x""#, 100, "\u{fffd} x"),
            (r#""abcdef""#, 3, "abc"),
            (r#""ab\ncd""#, 3, "ab\n"),
            ("\"aé\"", 2, "a"),
            ("\"é\"", 1, ""),
            ("42", 100, ""),
            ("null", 100, ""),
        ];
        for (json, limit, expected) in cases {
            assert_eq!(string_prefix(json, limit), expected, "{json} at {limit}");
        }
    }

    #[test]
    fn plain_text_cannot_steer_a_terminal() {
        let mut out = String::new();
        push_plain(
            &mut out,
            "a\u{1b}[2Jb\r\nc\td\u{7}\u{7f}\u{9b}31m\u{202e}é",
            1000,
        );
        assert_eq!(
            out,
            "a\u{241b}[2Jb\\r\\nc\\td\u{2407}\u{2421}\u{fffd}31m\u{fffd}é"
        );
        let mut short = String::new();
        push_plain(&mut short, "abcdef", 4);
        assert_eq!(short, "abcd…");
    }
}
