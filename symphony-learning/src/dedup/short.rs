//! Decides the texts that fit in a number, so that finding a stretch among them needs no comparing of bytes.
//!
//! At each place of a text one stretch is looked up for each length that there is. At most seven look-ups a byte, each
//! at most the logarithm of the number of texts, whatever they hold.

use super::sketch::WordFilter;
use super::state::State;
use crate::texts::{small, wide};

/// Length of the longest text that fits; the eighth byte holds the length.
pub(crate) const LONGEST: usize = 7;

/// Bits of the filter for each text: about 1 in 16 other stretches passes.
const FILTER_BITS_PER_TEXT: usize = 16;

/// Once one in this many texts has been found, the found texts are forgotten: those that occur often are found first, and
/// would be found again and again.
const FORGET_ONE_IN: usize = 4;

/// The texts that are looked for.
struct Sought {
    /// Sorted by the text as a number.
    words: Vec<(u64, u32)>,
    filter: WordFilter,
    /// For each length that there is, what it keeps of eight bytes, and what stands for the length.
    lengths: Vec<(u64, u64)>,
}

impl Sought {
    fn new(words: Vec<(u64, u32)>) -> Self {
        let filter = WordFilter::new(words.iter().map(|(word, _)| *word), FILTER_BITS_PER_TEXT);
        let lengths = (1..=LONGEST)
            .map(|length| (u64::MAX >> (64 - 8 * length), tag(length)))
            .filter(|(_, tag)| words.iter().any(|(word, _)| word >> 56 == tag >> 56))
            .collect();
        Self {
            words,
            filter,
            lengths,
        }
    }

    /// Calls `each` with the place of every text that starts with one of the stretches at a place. Returns how many were looked for.
    fn find(&self, bytes: [u8; 8], mut each: impl FnMut(u32)) -> u64 {
        let bytes = u64::from_le_bytes(bytes);
        let mut steps = 0;
        for (mask, tag) in &self.lengths {
            let word = bytes & mask | tag;
            if self.filter.may_hold(word) {
                steps += 1;
                let found = self.words.binary_search_by_key(&word, |(word, _)| *word);
                if let Some((_, place)) = found.ok().and_then(|at| self.words.get(at)) {
                    each(*place);
                }
            }
        }
        steps
    }
}

fn tag(length: usize) -> u64 {
    (length as u64) << 56
}

/// Decides the texts at `places`, all of them at most [`LONGEST`] bytes long.
pub(crate) fn resolve(state: &mut State<'_>, places: &[u32]) {
    let Some(&last) = places.last() else { return };
    let mut words: Vec<(u64, u32)> = Vec::with_capacity(places.len());
    for &place in places {
        let text = state.text(wide(place));
        let word = text
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
        words.push((word | tag(text.len()), place));
    }
    words.sort_unstable();
    let mut sought = Sought::new(words);
    let mut found = 0;
    for reader in 0..wide(last) {
        // What covered texts contain, their cover contains too, and it was read before.
        if state.is_covered(reader) {
            continue;
        }
        for bytes in state.texts.with_more(reader, LONGEST).array_windows() {
            let steps = sought.find(*bytes, |place| {
                // Found in itself is not covered; in any other one before it, it is a part.
                if wide(place) != reader && !state.is_covered(wide(place)) {
                    state.set_covered(place, small(reader));
                    found += 1;
                }
            });
            state.work.steps += steps;
        }
        if found * FORGET_ONE_IN >= sought.words.len() {
            let mut words = sought.words;
            words.retain(|(_, place)| !state.is_covered(wide(*place)) && wide(*place) > reader);
            if words.is_empty() {
                return;
            }
            sought = Sought::new(words);
            found = 0;
        }
    }
}
