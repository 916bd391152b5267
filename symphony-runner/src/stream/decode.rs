//! Bytes to text: the inside of a JSON string with its escapes, and invalid UTF-8.

use memchr::memchr;

/// Decodes the inside of a string.
pub(crate) fn decode(mut rest: &[u8], bytes_max: usize) -> String {
    let mut out = Vec::with_capacity(rest.len().min(bytes_max));
    while !rest.is_empty() && out.len() < bytes_max {
        let plain = memchr(b'\\', rest).unwrap_or(rest.len());
        let room = bytes_max - out.len();
        let taken = character_edge(rest, plain.min(room));
        out.extend_from_slice(rest.get(..taken).unwrap_or_default());
        if taken < plain {
            break;
        }
        rest = rest.get(plain..).unwrap_or_default();
        if !rest.is_empty() {
            let (decoded, length) = decode_escape(rest);
            match u8::try_from(decoded) {
                Ok(byte) if byte.is_ascii() => out.push(byte),
                _ => out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    let mut text = lossy(out);
    // A replaced byte takes three, an escape may take four: this enforces the limit.
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

/// Turns bytes into text; invalid UTF-8 becomes U+FFFD.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the start of the character at a position.
pub(crate) fn character_edge(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most three continuation bytes.
    let edge = (at.saturating_sub(3)..=at).rev().find(|at| !continues(*at));
    edge.unwrap_or(at)
}

/// Decodes the escape at the beginning; returns the character and its length in bytes.
fn decode_escape(bytes: &[u8]) -> (char, usize) {
    match bytes.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => decode_unicode(bytes),
        Some(other) if other.is_ascii() => (char::from(*other), 2),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// Decodes `\uXXXX`, or a surrogate pair of them.
fn decode_unicode(bytes: &[u8]) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        let digits = bytes.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(found) = char::from_u32(first) {
        return (found, 6);
    }
    match unit(6) {
        Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let joined = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            let found = char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER);
            (found, 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}
