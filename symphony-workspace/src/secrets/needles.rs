//! The forms in which a value can be found: as it is, in base64, in hexadecimal digits, URL-encoded, escaped for JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::hex::hex;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Shortest piece of base64 that is searched for: 8 bytes give at least this many at any offset.
const BASE64_CHARS_MIN: usize = 7;

/// Returns all forms of a value.
pub(super) fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::from([value.as_bytes().to_vec()]);
    for offset in 0..3 {
        let piece = base64_piece(value.as_bytes(), offset);
        if piece.len() >= BASE64_CHARS_MIN {
            let safe = piece.replace('+', "-").replace('/', "_");
            forms.insert(safe.into_bytes());
            forms.insert(piece.into_bytes());
        }
    }
    let digits = hex(value.as_bytes());
    forms.insert(digits.to_ascii_uppercase().into_bytes());
    forms.insert(digits.into_bytes());
    for text in quoted(value) {
        forms.insert(text.into_bytes());
    }
    // What different encoders leave as it is: RFC 3986, `encodeURIComponent`, `encodeURI`.
    for kept in ["-_.~", "-_.~!'()*", "-_.~!'()*;/?:@&=+$,#"] {
        for digits in [Digits::Upper, Digits::Lower] {
            let encoded = percent(value.as_bytes(), kept, digits);
            forms.insert(encoded.replace("%20", "+").into_bytes());
            forms.insert(encoded.into_bytes());
        }
    }
    forms
}

/// Returns a value as texts of JSON have it: quotes and line ends escaped, once or, in a text within a text, twice;
/// with letters beyond ASCII as they are, or escaped, too; with slashes as they are, or escaped.
fn quoted(value: &str) -> BTreeSet<String> {
    let inner = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        let inner = quoted
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        inner.unwrap_or_default().to_owned()
    };
    let once = inner(value);
    let mut ascii = String::new();
    for c in once.chars() {
        if matches!(c, ' '..='~') {
            ascii.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _infallible = write!(ascii, "\\u{unit:04x}");
        }
    }
    BTreeSet::from([inner(&once), once.replace('/', "\\/"), once, ascii])
}

/// Returns the base64 characters that depend on the value alone if `offset` other bytes precede it in the encoded text.
fn base64_piece(value: &[u8], offset: usize) -> String {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(value);
    let whole = bytes.len() * 8 / 6;
    let mut digits = Vec::with_capacity(whole);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for shift in [18, 12, 6, 0] {
            let index = usize::try_from((bits >> shift) & 63).unwrap_or(0);
            digits.push(STANDARD.get(index).copied().unwrap_or(b'A'));
        }
    }
    // One byte before shares two characters with the value, two share three.
    let shared = if offset == 0 { 0 } else { offset + 1 };
    let piece = digits.get(shared..whole).unwrap_or_default();
    String::from_utf8_lossy(piece).into_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Upper,
    Lower,
}

fn percent(value: &[u8], kept: &str, digits: Digits) -> String {
    let mut text = String::new();
    for byte in value {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(byte) {
            text.push(char::from(*byte));
        } else {
            let lower = hex(&[*byte]);
            text.push('%');
            match digits {
                Digits::Upper => text.push_str(&lower.to_ascii_uppercase()),
                Digits::Lower => text.push_str(&lower),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &str, text: &str) -> bool {
        forms(value)
            .iter()
            .any(|form| text.contains(str::from_utf8(form).unwrap()))
    }

    #[test]
    fn a_value_is_found_in_each_encoding() {
        let value = "p@ss/w?rd 123";
        // Made with `base64`: the value alone, behind one byte, behind two, in a URL-safe alphabet.
        for text in [
            "p@ss/w?rd 123",
            "cEBzcy93P3JkIDEyMw==",
            "eHBAc3Mvdz9yZCAxMjN4",
            "eHhwQHNzL3c/cmQgMTIzeA==",
            "eHhwQHNzL3c_cmQgMTIzeA",
            "p%40ss%2Fw%3Frd%20123",
            "p%40ss%2fw%3frd%20123",
            "p%40ss%2Fw%3Frd+123",
            "p@ss/w?rd%20123",
            "x704073732f773f72642031323378",
            "704073732F773F726420313233",
        ] {
            assert!(has(value, text), "{text}");
        }
        let quoted = r#"päss/"word""#;
        for text in [
            r#"päss/\"word\""#,
            r#"p\u00e4ss/\"word\""#,
            r#"päss\/\"word\""#,
            r#"päss/\\\"word\\\""#,
        ] {
            assert!(has(quoted, text), "{text}");
        }
        for text in ["p@ss/w?rd", "cEBzcy93P3Jk", "P@SS/W?RD 123"] {
            assert!(!has(value, text), "{text}");
        }
    }
}
