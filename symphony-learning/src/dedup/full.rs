//! Decides for every text whether another contains it, and which does.

use std::cmp::Ordering;

use super::gram::{EVERY, SPARSE};
use super::order::{Distinct, distinct_in_order};
use super::sampled::{self, Rest};
use super::{Limits, classes};
use crate::automaton::{self, Found, PATTERN_BYTES_MAX};
use crate::texts::{NONE, Texts, small, wide};

/// What covers each text.
#[derive(Debug)]
pub(crate) struct Cover {
    /// For each text the number of the one that covers it, `NONE` when it stays.
    pub(crate) by: Vec<u32>,
    /// The work that was done.
    pub(crate) work: Work,
}

/// Work that deduplicating took beyond reading all texts a fixed number of times: the part that could grow faster than
/// its input. The same for the same learnings, so that a test can hold its growth where time is too noisy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Entries of tables looked at, and stretches of 16 bytes compared.
    pub steps: u64,
    /// Bytes that automata read: of short texts always, of others when the steps get too many.
    pub automaton_bytes: u64,
}

/// The distinct texts with what is known about them; texts are named by their place in the order.
pub(crate) struct State<'a> {
    /// In order, so that reading them in order reads memory in order.
    texts: &'a Texts,
    /// For each place the place of the text that covers it, or `NONE`.
    pub(crate) covered_by: Vec<u32>,
    pub(crate) work: Work,
}

/// Finds, for every text, the covering one: of the texts that contain it (or equal it) the first by length (longest
/// first), then by `prefer`. That one is never covered itself.
pub(crate) fn cover(texts: &Texts, limits: Limits, prefer: impl Fn(u32, u32) -> Ordering) -> Cover {
    let Distinct {
        order,
        equal_to: mut by,
    } = distinct_in_order(texts, prefer);
    let mut in_order = Texts::default();
    in_order.reserve(order.len(), texts.bytes().len());
    for &number in &order {
        in_order.push(texts.get(wide(number)));
    }
    let mut state = State {
        texts: &in_order,
        covered_by: vec![NONE; order.len()],
        work: Work::default(),
    };
    let long = in_order.first_shorter_than(SPARSE.shortest());
    let middle = in_order.first_shorter_than(EVERY.shortest());
    let places = |range: std::ops::Range<usize>| -> Vec<u32> { range.map(small).collect() };
    let rest = sampled::resolve(&mut state, &places(0..long), SPARSE, limits);
    let rest = by_classes_if_many(&mut state, rest, limits);
    resolve_by_automaton(&mut state, rest);
    let middle_places = places(long..middle);
    let rest = sampled::resolve(&mut state, &middle_places, EVERY, limits);
    let rest = by_classes_if_many(&mut state, rest, limits);
    resolve_by_automaton(&mut state, rest);
    let shortest = places(middle..in_order.first_shorter_than(1));
    resolve_by_automaton(
        &mut state,
        Rest {
            places: shortest,
            from: 0,
        },
    );

    let State {
        covered_by, work, ..
    } = state;
    for (&number, &cover) in order.iter().zip(&covered_by) {
        if let (Some(slot), Some(&cover)) = (by.get_mut(wide(number)), order.get(wide(cover))) {
            *slot = cover;
        }
    }
    // Equal texts follow the one that stands for them: to what covers it, or to itself.
    for number in 0..by.len() {
        let to = by.get(number).copied().unwrap_or(NONE);
        if to != NONE && texts.get(wide(to)).len() == texts.get(number).len() {
            let above = by.get(wide(to)).copied().unwrap_or(NONE);
            if let (Some(slot), true) = (by.get_mut(number), above != NONE) {
                *slot = above;
            }
        }
    }
    Cover { by, work }
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

    /// Returns the length of a range of texts, separators included.
    pub(crate) fn bytes(&self, places: std::ops::Range<usize>) -> usize {
        self.texts.start(places.end) - self.texts.start(places.start)
    }
}

/// Most bytes of undecided texts whose automaton stays in a core's own cache (20 bytes a node): reading all texts with
/// it costs less than reading them for each class of length.
const AUTOMATON_IN_CACHE_MAX: usize = 32 * 1024;

fn by_classes_if_many(state: &mut State<'_>, rest: Rest, limits: Limits) -> Rest {
    let length = |place: &u32| state.text(wide(*place)).len();
    if rest.places.iter().map(length).sum::<usize>() <= AUTOMATON_IN_CACHE_MAX {
        return rest;
    }
    classes::resolve(state, rest, limits)
}

/// After which part of all bytes (one in so many) the automaton is built anew over what is still undecided: of many
/// short texts nearly all are found at once, and a small automaton reads the rest faster. The last is the whole.
const REBUILD_AFTER_ONE_IN: [usize; 4] = [64, 16, 4, 1];

/// Decides the rest by reading the texts in order. Linear whatever they hold.
fn resolve_by_automaton(state: &mut State<'_>, rest: Rest) {
    let Rest {
        places: mut patterns,
        from,
    } = rest;
    let Some(end) = patterns.iter().max().map(|&last| wide(last)) else {
        return;
    };
    let total = state.bytes(from..end);
    let mut next = from;
    let mut read = 0;
    for one_in in REBUILD_AFTER_ONE_IN {
        patterns.retain(|&place| !state.is_covered(wide(place)) && wide(place) > next);
        if patterns.is_empty() {
            return;
        }
        let start = next;
        while next < end && (read < total / one_in || one_in == 1) {
            read += state.text(next).len();
            next += 1;
        }
        let texts = state.texts;
        let text = |place: u32| texts.get(wide(place));
        patterns.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
        automaton::in_batches(&patterns, PATTERN_BYTES_MAX, text, |mut automaton| {
            for place in start..next {
                // What covered texts contain, their cover contains too, and it was read before.
                if state.is_covered(place) {
                    continue;
                }
                state.work.automaton_bytes += state.text(place).len() as u64;
                let by = small(place);
                automaton.scan(state.text(place), |pattern, found| {
                    // A later text is no longer than this one and differs, so a part is always a later place.
                    if found == Found::Part {
                        state.set_covered(pattern, by);
                    }
                });
            }
        });
    }
}
