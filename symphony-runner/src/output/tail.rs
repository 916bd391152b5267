//! The last part of a stream, kept for the run's record (spec: lifecycle, "Streams").

use std::collections::VecDeque;

use super::terminal::neutralised;

/// How much of a stream a run keeps, in bytes (spec: lifecycle, "Streams": the last 50 KiB).
pub const TAIL_BYTES_MAX: usize = 50 * 1024;

/// Keeps the last bytes that were pushed; memory never exceeds the limit.
#[derive(Debug, Clone)]
pub struct Tail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
    bytes_seen: u64,
}

impl Default for Tail {
    fn default() -> Self {
        Self::new(TAIL_BYTES_MAX)
    }
}

impl Tail {
    /// Makes an empty tail that keeps at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            bytes_max,
            bytes_seen: 0,
        }
    }

    /// Appends bytes, and forgets the oldest ones beyond the limit.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes_seen = self
            .bytes_seen
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let kept = last(bytes, self.bytes_max);
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.bytes_max);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// Counts all bytes that were ever pushed.
    pub fn bytes_seen(&self) -> u64 {
        self.bytes_seen
    }

    /// Returns the kept part as text of at most the limit's bytes.
    ///
    /// Invalid UTF-8 is replaced, a character that was cut at the front is omitted, control characters are made
    /// visible. As that can lengthen the text, it is cut once more, again at the front.
    pub fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let is_cut = u64::try_from(bytes.len()).is_ok_and(|kept| kept < self.bytes_seen);
        let whole = if is_cut {
            without_cut_character(&bytes)
        } else {
            &bytes
        };
        let text = String::from_utf8_lossy(whole);
        let mut text = neutralised(&text).into_owned();
        let excess = text.len().saturating_sub(self.bytes_max);
        let boundary = text.ceil_char_boundary(excess);
        text.drain(..boundary);
        text
    }
}

fn last(bytes: &[u8], count: usize) -> &[u8] {
    bytes
        .get(bytes.len().saturating_sub(count)..)
        .unwrap_or_default()
}

/// Drops the continuation bytes (at most three) that a cut left at the front.
fn without_cut_character(bytes: &[u8]) -> &[u8] {
    let continuation = bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
        .count();
    bytes.get(continuation..).unwrap_or_default()
}

/// Returns the last characters of a text, at most `chars_max`.
pub fn last_chars(text: &str, chars_max: usize) -> String {
    let start = match chars_max.checked_sub(1) {
        Some(last) => text.char_indices().rev().nth(last).map_or(0, |(i, _)| i),
        None => text.len(),
    };
    text.get(start..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tail_of(chunks: &[&[u8]], bytes_max: usize) -> String {
        let mut tail = Tail::new(bytes_max);
        for chunk in chunks {
            tail.push(chunk);
        }
        tail.text()
    }

    #[test]
    fn the_end_is_kept_whole_characters_only() {
        let table: [(&[&[u8]], usize, &str); 7] = [
            (&[], 4, ""),
            (&[b"abc"], 4, "abc"),
            (&[b"ab", b"cdef"], 4, "cdef"),
            (&[b"abcdefgh"], 4, "efgh"),
            (&["aé日".as_bytes()], 4, "日"),
            (&[b"\xff\xfeab"], 8, "\u{fffd}\u{fffd}ab"),
            (&[b"\x1b\x1b\x1bab"], 6, "␛ab"),
        ];
        for (chunks, bytes_max, expected) in table {
            assert_eq!(tail_of(chunks, bytes_max), expected, "{chunks:?}");
        }
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter_and_the_limit_holds(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            bytes_max in 0usize..64,
        ) {
            let all = chunks.concat();
            let mut tail = Tail::new(bytes_max);
            for chunk in &chunks {
                tail.push(chunk);
            }
            prop_assert_eq!(tail.bytes_seen(), all.len() as u64);
            prop_assert!(tail.text().len() <= bytes_max);
            prop_assert_eq!(tail.text(), tail_of(&[&all], bytes_max));
        }

        #[test]
        fn valid_text_is_a_suffix(text in "[a-zé日🎼]{0,60}", bytes_max in 0usize..64) {
            let kept = tail_of(&[text.as_bytes()], bytes_max);
            prop_assert!(text.ends_with(&kept));
            prop_assert!(kept.len() + 3 >= bytes_max.min(text.len()));
        }
    }
}
