//! Taking the best down to a cap, sorting no more than is looked at.

use symphony_core::room::Room;

use crate::rank::{Hit, Ranker, Scored};
use crate::texts::wide;

/// How much of an order is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cap {
    Count(usize),
    Chars(Room),
}

impl Cap {
    /// A cap of this many characters.
    pub(crate) fn chars(cap: usize) -> Self {
        Self::Chars(Room::new(u64::try_from(cap).unwrap_or(u64::MAX)))
    }
}

/// Learnings of which the best are taken, sorted no further than needed.
pub(crate) struct Front {
    list: Vec<Scored>,
    /// How many at the beginning of the list are sorted.
    sorted: usize,
    /// How many of these were looked at.
    passed: usize,
    cap: Cap,
    full: bool,
    pub(crate) taken: Vec<Hit>,
}

/// How many are sorted at first: nearly always enough for the default caps.
const FIRST_SORTED: usize = 256;

/// How many times as many are sorted next, so that few rounds pass over a long list.
const MORE_SORTED: usize = 8;

/// What a convention needs besides its pattern: `- ` and the line end.
const BULLET_CHARS: u64 = 3;

impl Front {
    pub(crate) fn new(list: Vec<Scored>, cap: Cap) -> Self {
        Self {
            list,
            sorted: 0,
            passed: 0,
            full: matches!(cap, Cap::Count(0)),
            cap,
            taken: Vec::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.full || self.passed == self.list.len()
    }

    /// Sorts the next `count` and returns them; none when nothing more is wanted.
    pub(crate) fn sort_next(&mut self, ranker: &Ranker<'_>, count: usize) -> &[Scored] {
        self.pass_over_too_long(ranker);
        let count = if self.is_done() {
            0
        } else {
            count.min(self.list.len() - self.sorted)
        };
        let rest = self.list.get_mut(self.sorted..).unwrap_or_default();
        if count > 0 && count < rest.len() {
            rest.select_nth_unstable_by(count - 1, |a, b| ranker.order(a, b));
        }
        let next = rest.get_mut(..count).unwrap_or_default();
        next.sort_unstable_by(|a, b| ranker.order(a, b));
        self.sorted += count;
        next
    }

    /// Goes down all of the list, sorting more and more of it, until the cap is reached.
    pub(crate) fn take_all(&mut self, ranker: &Ranker<'_>, covered: impl Fn(u32) -> bool) {
        let mut count = FIRST_SORTED;
        while !self.is_done() {
            self.sort_next(ranker, count);
            self.take(ranker, &covered);
            count = count.saturating_mul(MORE_SORTED);
        }
    }

    /// Goes down what is sorted, passing over the covered and what is over the cap, until nothing more fits.
    pub(crate) fn take(&mut self, ranker: &Ranker<'_>, covered: impl Fn(u32) -> bool) {
        let next = self.list.get(self.passed..self.sorted).unwrap_or_default();
        for scored in next {
            if self.full {
                return;
            }
            self.passed += 1;
            if covered(scored.index) {
                continue;
            }
            match &mut self.cap {
                Cap::Count(left) => {
                    *left -= 1;
                    self.full = *left == 0;
                }
                Cap::Chars(room) => {
                    if !room.take(line_chars(ranker, scored)) {
                        continue;
                    }
                }
            }
            self.taken.push(Hit {
                index: wide(scored.index),
                score: scored.score,
                parts: ranker.parts(scored.index),
            });
        }
        self.pass_over_too_long(ranker);
    }

    /// Takes those out of the unsorted rest that have no room any more: otherwise a nearly full list would ask about all of
    /// them in vain.
    fn pass_over_too_long(&mut self, ranker: &Ranker<'_>) {
        let Cap::Chars(room) = self.cap else {
            return;
        };
        let fits = |scored: &Scored| room.fits(line_chars(ranker, scored));
        let rest = self.list.split_off(self.sorted);
        self.list.extend(rest.into_iter().filter(fits));
    }
}

/// Characters of a convention as it is rendered.
fn line_chars(ranker: &Ranker<'_>, scored: &Scored) -> u64 {
    u64::from(ranker.row(scored.index).pattern_chars) + BULLET_CHARS
}
