//! Counting tokens: the trait, and the heuristic of four characters per token.
//!
//! A character is a Unicode scalar value. Nothing here allocates but the default methods of the trait.

use std::num::NonZeroU64;

use symphony_core::unit::Tokens;

/// Characters per token of the heuristic (spec: prompts).
pub const CHARS_PER_TOKEN: u64 = 4;

/// Counts tokens, and finds where a text has to be cut to hold at most a given number.
///
/// Only [`count`](Self::count) is required. The cutting methods have defaults that search by
/// counting; a counter that can find the place directly should.
pub trait TokenCounter {
    /// Counts the tokens of a text.
    fn count(&self, text: &str) -> Tokens;

    /// Says whether a text has at most `cap` tokens.
    fn fits(&self, text: &str, cap: Tokens) -> bool {
        self.count(text) <= cap
    }

    /// Returns the length in bytes of a longest prefix that has at most `cap` tokens together with `after` behind it.
    fn prefix_len(&self, text: &str, cap: Tokens, after: &str) -> usize {
        search_prefix(text, &|prefix| self.count(&[prefix, after].concat()) <= cap)
    }

    /// Returns the byte offset where a longest suffix starts that has at most `cap` tokens together with `before` in front.
    fn suffix_start(&self, text: &str, cap: Tokens, before: &str) -> usize {
        search_suffix(text, &|suffix| {
            self.count(&[before, suffix].concat()) <= cap
        })
    }
}

/// Counts `ceil(characters / n)`, four characters to the token by default.
///
/// ```
/// use symphony_prompt::{HeuristicCounter, TokenCounter};
/// assert_eq!(HeuristicCounter::default().count("hello").get(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeuristicCounter {
    chars_per_token: NonZeroU64,
}

impl HeuristicCounter {
    /// Counts characters: one per token. The hard limits are given in characters.
    pub(crate) const CHARS: Self = Self {
        chars_per_token: NonZeroU64::MIN,
    };

    /// Makes a counter with another ratio, for texts that are denser than English prose.
    pub const fn new(chars_per_token: NonZeroU64) -> Self {
        Self { chars_per_token }
    }

    fn chars_max(self, cap: Tokens) -> u64 {
        cap.get().saturating_mul(self.chars_per_token.get())
    }
}

impl Default for HeuristicCounter {
    fn default() -> Self {
        Self::new(NonZeroU64::new(CHARS_PER_TOKEN).unwrap_or(NonZeroU64::MIN))
    }
}

impl TokenCounter for HeuristicCounter {
    fn count(&self, text: &str) -> Tokens {
        Tokens::new(count_chars(text.as_bytes()).div_ceil(self.chars_per_token.get()))
    }

    fn fits(&self, text: &str, cap: Tokens) -> bool {
        let max = self.chars_max(cap);
        let bytes = text.len() as u64;
        // A character has one to four bytes, so that most texts need not be counted at all, and none beyond the cap.
        bytes <= max
            || (bytes.div_ceil(4) <= max && offset_of_char(text.as_bytes(), max) == text.len())
    }

    fn prefix_len(&self, text: &str, cap: Tokens, after: &str) -> usize {
        let chars = self.chars_max(cap);
        offset_of_char(
            text.as_bytes(),
            chars.saturating_sub(count_chars(after.as_bytes())),
        )
    }

    fn suffix_start(&self, text: &str, cap: Tokens, before: &str) -> usize {
        let chars = self.chars_max(cap);
        offset_of_last_chars(
            text.as_bytes(),
            chars.saturating_sub(count_chars(before.as_bytes())),
        )
    }
}

/// Estimates the tokens of a text: `ceil(characters / 4)`.
pub fn estimate_tokens(text: &str) -> Tokens {
    HeuristicCounter::default().count(text)
}

/// Bytes per step when a place in a text is searched: a few vector registers wide, small enough to stop early.
const CHUNK_BYTES: usize = 128;

const fn starts_char(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// Counts Unicode scalar values: every byte that is not a continuation byte starts one.
pub(crate) fn count_chars(bytes: &[u8]) -> u64 {
    count_bytes(bytes, starts_char)
}

/// Counts lines; a last one without line end counts too.
pub(crate) fn count_lines(text: &str) -> u64 {
    let ends = count_bytes(text.as_bytes(), |byte| byte == b'\n');
    ends + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

fn count_bytes(bytes: &[u8], counts: impl Fn(u8) -> bool + Copy) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<CHUNK_BYTES>();
    let whole: u64 = chunks
        .iter()
        .map(|chunk| count_in_chunk(chunk, counts))
        .sum();
    whole + count_in_chunk(rest, counts)
}

/// Counts in at most 255 bytes, so that the sum fits a byte and the loop becomes vector instructions.
fn count_in_chunk(chunk: &[u8], counts: impl Fn(u8) -> bool) -> u64 {
    u64::from(
        chunk
            .iter()
            .fold(0u8, |sum, byte| sum.wrapping_add(u8::from(counts(*byte)))),
    )
}

/// Returns the offset of the character number `index`, or the length when there are no more than `index`.
fn offset_of_char(bytes: &[u8], index: u64) -> usize {
    let mut seen = 0;
    let mut base = 0;
    for chunk in bytes.chunks(CHUNK_BYTES) {
        let here = count_in_chunk(chunk, starts_char);
        if seen + here > index {
            let mut left = index - seen;
            for (offset, byte) in chunk.iter().enumerate() {
                if starts_char(*byte) {
                    if left == 0 {
                        return base + offset;
                    }
                    left -= 1;
                }
            }
        }
        seen += here;
        base += chunk.len();
    }
    bytes.len()
}

/// Returns the offset where the last `count` characters start, or 0 when there are no more.
fn offset_of_last_chars(bytes: &[u8], count: u64) -> usize {
    if count == 0 {
        return bytes.len();
    }
    let mut seen = 0;
    let mut end = bytes.len();
    for chunk in bytes.rchunks(CHUNK_BYTES) {
        let here = count_in_chunk(chunk, starts_char);
        if seen + here >= count {
            let mut left = count - seen;
            for (back, byte) in chunk.iter().rev().enumerate() {
                if starts_char(*byte) {
                    left -= 1;
                    if left == 0 {
                        return end - back - 1;
                    }
                }
            }
        }
        seen += here;
        end -= chunk.len();
    }
    0
}

/// Binary search for a long prefix that passes; what it returns has been tested, whether or not the test is monotone.
fn search_prefix(text: &str, passes: &dyn Fn(&str) -> bool) -> usize {
    if passes(text) {
        return text.len();
    }
    let (mut good, mut bad) = (0, text.len());
    while bad - good > 1 {
        let middle = text.floor_char_boundary(good.midpoint(bad));
        if middle == good {
            // All of the gap below the middle is one character: try its end.
            let next = text.ceil_char_boundary(good + 1);
            if next >= bad || !text.get(..next).is_some_and(passes) {
                break;
            }
            good = next;
        } else if text.get(..middle).is_some_and(passes) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// The mirror image of [`search_prefix`].
fn search_suffix(text: &str, passes: &dyn Fn(&str) -> bool) -> usize {
    if passes(text) {
        return 0;
    }
    let (mut bad, mut good) = (0, text.len());
    while good - bad > 1 {
        let middle = text.ceil_char_boundary(bad.midpoint(good));
        if middle == good {
            let next = text.floor_char_boundary(good - 1);
            if next <= bad || !text.get(next..).is_some_and(passes) {
                break;
            }
            good = next;
        } else if text.get(middle..).is_some_and(passes) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_characters_by_four_rounded_up() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("ääää", 1),
            ("👩‍🚀👩‍🚀", 2),
        ] {
            assert_eq!(estimate_tokens(text).get(), tokens, "{text:?}");
        }
        let long = "ä€x😀".repeat(1000);
        assert_eq!(estimate_tokens(&long).get(), 1000);
        let dense = HeuristicCounter::new(NonZeroU64::new(2).unwrap());
        assert_eq!(dense.count("abcde").get(), 3);
    }

    #[test]
    fn places_are_found_as_by_walking() {
        let text = "aä€😀b\n".repeat(100);
        let counter = HeuristicCounter::CHARS;
        let offsets: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        for chars in [0, 1, 2, 3, 127, 128, 129, 300, 599, 600, 700] {
            let cap = Tokens::new(chars as u64);
            assert_eq!(
                counter.prefix_len(&text, cap, ""),
                offsets[chars.min(600)],
                "{chars}"
            );
            assert_eq!(
                counter.suffix_start(&text, cap, ""),
                offsets[600 - chars.min(600)],
                "{chars}"
            );
            let passes = |part: &str| part.chars().count() <= chars;
            assert_eq!(
                search_prefix(&text, &passes),
                offsets[chars.min(600)],
                "{chars}"
            );
            assert_eq!(
                search_suffix(&text, &passes),
                offsets[600 - chars.min(600)],
                "{chars}"
            );
        }
    }
}
