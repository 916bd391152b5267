//! Bounded, harmless text: the beginning of a text, and text that cannot control a terminal.

use symphony_prompt::is_hidden;

use super::decode::{character_edge, lossy};
use crate::output::picture;

/// Most bytes of the agent's text that are kept: an answer is rarely longer, and the raw line is on disk.
pub(crate) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of a thought, a tool's arguments or its answer that are kept: what a log line shows of them.
pub(crate) const DETAIL_BYTES_MAX: usize = 1024;
/// Most bytes of an error message that are kept; Codex passes on a provider's whole answer as one.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// Most bytes of a name or an id that are kept.
pub(crate) const WORD_BYTES_MAX: usize = 256;

/// Copies the beginning of a text; invalid UTF-8 becomes U+FFFD.
pub(crate) fn beginning(bytes: &[u8], bytes_max: usize) -> String {
    let kept = bytes
        .get(..character_edge(bytes, bytes_max))
        .unwrap_or_default();
    let mut out = lossy(kept.to_vec());
    out.truncate(out.floor_char_boundary(bytes_max));
    out
}

/// Digests bytes, eight at a time (the multiplication of the Fx hash): equal bytes have equal digests. It does not
/// resist an agent that searches for collisions; that agent would only seem to repeat itself.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words
        .iter()
        .fold(0, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    mix(mix(sum, u64::from_le_bytes(last)), length)
}

/// Appends a text as one harmless line, at most about `bytes_max` bytes of it, `…` where it was cut.
///
/// Line feeds, tabs and carriage returns are written as `\n`, `\t`, `\r`; other characters that control, reorder or
/// hide as [`neutralised`](crate::output::neutralised) shows them.
pub fn push_plain(out: &mut String, text: &str, bytes_max: usize) {
    let kept = text
        .get(..text.floor_char_boundary(bytes_max))
        .unwrap_or_default();
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
        hidden if is_hidden(hidden) => out.push(picture(hidden)),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn beginnings_end_with_a_whole_character() {
        let cases: &[(&[u8], usize, &str)] = &[
            (b"abc", 10, "abc"),
            (b"abc", 2, "ab"),
            ("aé".as_bytes(), 2, "a"),
            ("a😀".as_bytes(), 4, "a"),
            (b"\xff\xff", 5, "\u{fffd}"),
        ];
        for (bytes, limit, expected) in cases {
            assert_eq!(beginning(bytes, *limit), *expected, "{bytes:?} at {limit}");
        }
    }

    #[test]
    fn digests_tell_texts_apart() {
        let texts: [&[u8]; 7] = [
            b"",
            b"a",
            b"a\0",
            b"ab",
            b"12345678",
            b"12345678\0",
            b"87654321",
        ];
        for (place, left) in texts.iter().enumerate() {
            for right in texts.iter().skip(place + 1) {
                assert_ne!(digest(left), digest(right), "{left:?} {right:?}");
            }
            assert_eq!(digest(left), digest(&[*left, b""].concat()));
        }
    }
}
