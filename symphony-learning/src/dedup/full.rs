//! Decides for every text whether another contains it, and which does.

use std::cmp::Ordering;

use super::limits::Limits;
use super::order::{Ordered, in_order};
use super::sampled::{self, Rest};
use super::state::{State, Work};
use super::{classes, gram, short};
use crate::automaton::{self, Occurrence, PATTERN_BYTES_MAX};
use crate::texts::{NONE, Texts, small, wide};

/// What covers each text.
#[derive(Debug)]
pub(crate) struct Cover {
    /// For each text the number of the one that covers it, `NONE` when it stays or is empty.
    pub(crate) by: Vec<u32>,
    /// The work that was done.
    pub(crate) work: Work,
}

/// Finds, for every text, the covering one: of the texts that contain it (or equal it) the first by length (longest
/// first), then by `prefer`, of which `early` tells as much as a number can (see [`in_order`]). That one is never covered
/// itself.
pub(crate) fn cover(
    texts: &Texts,
    limits: Limits,
    early: impl Fn(u32) -> i64,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Cover {
    let Ordered {
        texts: in_order,
        numbers,
        equal_to,
    } = in_order(texts, early, prefer);
    let mut state = State {
        texts: &in_order,
        covered_by: equal_to,
        work: Work::default(),
    };
    let middle = in_order.first_shorter_than(gram::SHORTEST);
    let short = in_order.first_shorter_than(short::LONGEST + 1);
    let long = state.open(0..middle);
    let rest = sampled::resolve(&mut state, &long, limits);
    resolve_rest(&mut state, rest, limits);
    let rest = Rest {
        places: state.open(middle..short),
        from: 0,
    };
    resolve_rest(&mut state, rest, limits);
    let places = state.open(short..in_order.len());
    short::resolve(&mut state, &places);

    let State {
        covered_by, work, ..
    } = state;
    let mut by = vec![NONE; texts.len()];
    for (place, (&number, &cover)) in numbers.iter().zip(&covered_by).enumerate() {
        if cover == NONE {
            continue;
        }
        let mut cover = cover;
        // An equal text follows the one that stands for it: to what covers that, or to itself.
        if in_order.get(wide(cover)).len() == in_order.get(place).len() {
            let above = covered_by.get(wide(cover)).copied();
            cover = above.filter(|&above| above != NONE).unwrap_or(cover);
        }
        if let (Some(slot), Some(&cover)) = (by.get_mut(wide(number)), numbers.get(wide(cover))) {
            *slot = cover;
        }
    }
    Cover { by, work }
}

/// Most bytes of undecided texts whose automaton stays in a core's own cache (20 bytes a node): reading all texts with
/// it costs less than reading them for each class of length.
const AUTOMATON_IN_CACHE_MAX: usize = 32 * 1024;

/// Decides the rest by classes of length, and by an automaton where it is little or the steps do not suffice.
fn resolve_rest(state: &mut State<'_>, mut rest: Rest, limits: Limits) {
    let length = |place: &u32| state.text(wide(*place)).len();
    if rest.places.iter().map(length).sum::<usize>() > AUTOMATON_IN_CACHE_MAX {
        rest = classes::resolve(state, rest, limits);
    }
    resolve_by_automaton(state, rest);
}

/// Decides the remaining texts by reading all texts in order, in linear time whatever they hold.
fn resolve_by_automaton(state: &mut State<'_>, rest: Rest) {
    let Rest { mut places, from } = rest;
    places.retain(|&place| !state.is_covered(wide(place)));
    let Some(end) = places.iter().max().map(|&last| wide(last)) else {
        return;
    };
    let texts = state.texts;
    let text = |place: u32| texts.get(wide(place));
    places.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
    automaton::in_batches(&places, PATTERN_BYTES_MAX, text, |mut automaton| {
        for place in from..end {
            // What covered texts contain, their cover contains too, and it was read before.
            if state.is_covered(place) {
                continue;
            }
            state.work.automaton_bytes += state.text(place).len() as u64;
            let by = small(place);
            automaton.scan(state.text(place), |pattern, found| {
                // A later text is no longer than this one and differs, so a part is always a later place.
                if found == Occurrence::Part {
                    state.set_covered(pattern, by);
                }
            });
        }
    });
}
