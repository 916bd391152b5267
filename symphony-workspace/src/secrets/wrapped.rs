//! A text without its line breaks: programs like `base64` and `xxd` wrap their output, also in the middle of a value.

/// A text without its line breaks, and the positions of its bytes in the text. Both real breaks and those of quoted
/// texts (`\n`, also quoted twice) are removed.
#[derive(Debug)]
pub(super) struct Unwrapped {
    pub(super) bytes: Vec<u8>,
    /// For each piece except the first: where it begins in `bytes`, and in the text.
    pieces: Vec<(usize, usize)>,
}

impl Unwrapped {
    /// Returns the text without its breaks; `None` if it has none.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut unwrapped = Self {
            bytes: Vec::new(),
            pieces: Vec::new(),
        };
        let (mut from, mut at) = (0, 0);
        while let Some(next) = next_candidate(text, at) {
            let end = break_end(text, next);
            if end > next {
                if unwrapped.bytes.capacity() == 0 {
                    unwrapped.bytes.reserve(text.len());
                }
                unwrapped
                    .bytes
                    .extend_from_slice(text.get(from..next).unwrap_or_default());
                unwrapped.pieces.push((unwrapped.bytes.len(), end));
                from = end;
            }
            at = end.max(next + 1);
        }
        if unwrapped.pieces.is_empty() {
            return None;
        }
        unwrapped
            .bytes
            .extend_from_slice(text.get(from..).unwrap_or_default());
        Some(unwrapped)
    }

    /// Returns the position of a byte of `bytes` in the text.
    pub(super) fn place(&self, index: usize) -> usize {
        let after = self.pieces.partition_point(|(begin, _)| *begin <= index);
        match after
            .checked_sub(1)
            .and_then(|piece| self.pieces.get(piece))
        {
            Some((begin, place)) => place + (index - begin),
            None => index,
        }
    }
}

fn next_candidate(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memchr3(b'\n', b'\r', b'\\', rest).map(|found| from + found)
}

/// Returns the end of the break that begins here; its beginning if there is none.
fn break_end(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'\n' | b'\r') => at + 1,
        Some(b'\\') => {
            let rest = text.get(at..).unwrap_or_default();
            let quotes = rest.iter().take_while(|byte| **byte == b'\\').count();
            match rest.get(quotes) {
                Some(b'n' | b'r') => at + quotes + 1,
                _ => at,
            }
        }
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_found_again_where_it_stood() {
        for (text, expected) in [
            ("ab\ncd", Some("abcd")),
            ("ab\r\n\ncd\n", Some("abcd")),
            (r"ab\ncd\r\nef", Some("abcdef")),
            (r"ab\\ncd", Some("abcd")),
            (r#"a\"b\\c"#, None),
            ("abcd", None),
            ("", None),
        ] {
            let unwrapped = Unwrapped::of(text.as_bytes());
            let found = unwrapped.as_ref().map(|one| one.bytes.as_slice());
            assert_eq!(found, expected.map(str::as_bytes), "{text:?}");
            for (index, byte) in found.unwrap_or_default().iter().enumerate() {
                let place = unwrapped.as_ref().unwrap().place(index);
                assert_eq!(text.as_bytes()[place], *byte, "{text:?} {index}");
            }
        }
    }
}
