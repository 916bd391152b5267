//! Stretches of texts that are looked for, without those of texts that need no more looking for.

use super::sketch::WordFilter;

/// Bits of the filter for each stretch: about 1 in 128 other stretches passes.
const FILTER_BITS_PER_GRAM: usize = 128;

/// Once the texts of one in this many stretches have been decided, their stretches are forgotten: a stretch that occurs often decides its
/// text soon, and would be found again and again.
const FORGET_ONE_IN: usize = 4;

/// A stretch of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gram {
    pub(super) word: u64,
    pub(super) candidate: usize,
    /// Where the stretch is in the candidate's text.
    pub(super) offset: usize,
}

/// Sorted stretches, with a filter before them.
pub(super) struct Sought {
    grams: Vec<Gram>,
    filter: WordFilter,
    /// How many stretches belong to texts that have been decided since the filter was made.
    decided: usize,
}

impl Sought {
    pub(super) fn new(mut grams: Vec<Gram>) -> Self {
        grams.sort_unstable();
        let words = grams.iter().map(|gram| gram.word);
        Self {
            filter: WordFilter::new(words, FILTER_BITS_PER_GRAM),
            grams,
            decided: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.grams.is_empty()
    }

    pub(super) fn grams(&self) -> &[Gram] {
        &self.grams
    }

    /// Returns where the first of the stretches that equal a word is in [`Sought::grams`]; for nearly all other words nothing is searched.
    pub(super) fn first(&self, word: u64) -> Option<usize> {
        if !self.filter.may_hold(word) {
            return None;
        }
        let place = self.grams.partition_point(|gram| gram.word < word);
        let found = self.grams.get(place)?.word == word;
        found.then_some(place)
    }

    /// Returns the stretches that equal a word.
    pub(super) fn same(&self, word: u64) -> impl Iterator<Item = &Gram> {
        let from = self.first(word).unwrap_or(self.grams.len());
        let rest = self.grams.get(from..).unwrap_or_default();
        rest.iter().take_while(move |gram| gram.word == word)
    }

    /// Notes that the text of this many stretches has been decided, and forgets all such stretches once there are many.
    pub(super) fn note_decided(&mut self, stretches: usize, is_open: impl Fn(&Gram) -> bool) {
        self.decided += stretches;
        if self.decided * FORGET_ONE_IN >= self.grams.len() {
            let mut grams = std::mem::take(&mut self.grams);
            grams.retain(is_open);
            *self = Self::new(grams);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_decided_texts_are_forgotten_once_they_are_many() {
        let gram = |candidate: usize| Gram {
            word: candidate as u64 / 2,
            candidate,
            offset: 0,
        };
        let mut sought = Sought::new((0..8).rev().map(gram).collect());
        let found = |sought: &Sought, word| sought.same(word).copied().collect::<Vec<_>>();
        assert_eq!(found(&sought, 1), [gram(2), gram(3)]);
        assert_eq!(sought.first(1), Some(2));
        assert_eq!(found(&sought, 9), []);

        sought.note_decided(1, |gram| gram.candidate != 2);
        assert_eq!(found(&sought, 1), [gram(2), gram(3)], "one of eight");
        sought.note_decided(1, |gram| gram.candidate > 3);
        assert_eq!(found(&sought, 1), []);
        assert_eq!(found(&sought, 2), [gram(4), gram(5)]);
        sought.note_decided(1, |_| false);
        assert!(sought.is_empty());
    }
}
