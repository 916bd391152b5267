//! Texts in order with what is known about them.

use crate::texts::{NONE, Texts, small, wide};

/// Work that deduplicating took beyond reading all texts a fixed number of times: the part that could grow faster than
/// its input. The same for the same learnings, so that a test can hold its growth where time is too noisy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Entries of tables looked at, and stretches of 16 bytes compared.
    pub steps: u64,
    /// Bytes that automata read: for little that is left, and when the steps get too many.
    pub automaton_bytes: u64,
}

/// Texts in order with what is known about them; they are named by their place in it.
pub(crate) struct State<'a> {
    /// In order (see [`Ordered`](super::order::Ordered)).
    pub(crate) texts: &'a Texts,
    /// For each place the place of the text that covers it, or `NONE`.
    pub(crate) covered_by: Vec<u32>,
    pub(crate) work: Work,
}

impl<'a> State<'a> {
    pub(crate) fn text(&self, place: usize) -> &'a [u8] {
        self.texts.get(place)
    }

    pub(crate) fn is_covered(&self, place: usize) -> bool {
        self.covered_by.get(place).is_some_and(|&by| by != NONE)
    }

    pub(crate) fn set_covered(&mut self, place: u32, by: u32) {
        if let Some(slot) = self.covered_by.get_mut(wide(place)) {
            *slot = by;
        }
    }

    /// Returns those of some places that nothing covers.
    pub(super) fn open(&self, places: std::ops::Range<usize>) -> Vec<u32> {
        let open = places.filter(|&place| !self.is_covered(place));
        open.map(small).collect()
    }

    /// Returns the length of a range of texts, separators included.
    pub(crate) fn bytes(&self, places: std::ops::Range<usize>) -> usize {
        self.texts.start(places.end) - self.texts.start(places.start)
    }
}
