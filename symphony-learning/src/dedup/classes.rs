//! Decides texts by stretches nearly as long as themselves: where the short ones are too common to tell texts apart.
//!
//! The texts are taken by classes of length, the longest first. Of each text a few stretches are looked up in all texts
//! that may contain it. One that occurs once proves that nothing contains the text; by the rarest of the others it is
//! found. A class is read at most twice, so this is linear but for the number of classes (the logarithm of a length).

use super::limits::Limits;
use super::rolling::{Rolling, hash};
use super::sampled::{Anchor, Rest, find};
use super::sketch::{Batch, Filter, LargeCounts};
use super::state::State;
use super::stretches::Stretches;
use crate::texts::{small, wide};

/// Length of the stretches in the class of the shortest texts.
const FIRST: usize = 8;

/// How many stretches of a text are looked up. The first and the last cover all of it, since none is shorter than two
/// thirds of its text; the others help where those two are common.
const STRETCHES: usize = 4;

/// Bits of the filter for each stretch: about 1 in 8 others passes.
const FILTER_BITS: usize = 8;

/// Room for more counts than stretches, so that few share one: a count that is too large costs a search.
const COUNTS_PER_STRETCH: usize = 2;

/// Decides the texts of `rest`, none of them shorter than [`FIRST`], as far as the steps go.
pub(crate) fn resolve(state: &mut State<'_>, mut rest: Rest, limits: Limits) -> Rest {
    // in order, so that the lengths fall
    rest.places.sort_unstable();
    let mut left = Rest::default();
    let class = |state: &State<'_>, place: u32| length_of_class(state.text(wide(place)).len());
    let mut undecided = rest.places.as_slice();
    while let Some(&longest) = undecided.first() {
        let length = class(state, longest);
        let members = undecided.partition_point(|&place| class(state, place) == length);
        let (members, shorter) = undecided.split_at(members);
        resolve_class(state, members, Rolling::new(length), limits, &mut left);
        undecided = shorter;
    }
    left
}

/// Returns the length of the stretches for texts of this length: the largest of 8, 12, 18, 27, … that is not longer.
fn length_of_class(text: usize) -> usize {
    let mut length = FIRST;
    while length + length / 2 <= text {
        length += length / 2;
    }
    length
}

/// Returns how many stretches of a text are looked up.
fn stretches(text: usize, stretch: usize) -> usize {
    STRETCHES.min(text.saturating_sub(stretch) + 1)
}

/// Returns where the stretches lie in a text: the first at its start, the last at its end.
fn offsets(text: usize, stretch: usize) -> impl Iterator<Item = usize> {
    let room = text.saturating_sub(stretch);
    let last = stretches(text, stretch) - 1;
    (0..=last).map(move |part| room * part / last.max(1))
}

/// Decides the texts at `places`, all of one class; those that the steps do not suffice for go to `left`.
fn resolve_class(
    state: &mut State<'_>,
    places: &[u32],
    mut rolling: Rolling,
    limits: Limits,
    left: &mut Rest,
) {
    let open = |state: &State<'_>| -> Vec<u32> {
        let mut open = places.to_vec();
        open.retain(|&place| !state.is_covered(wide(place)));
        open
    };
    let places = open(state);
    let Some(&last) = places.last() else { return };
    let length = |place: &u32| state.text(wide(*place)).len();
    let looked_up = |place| stretches(length(place), rolling.length());
    let entries = places.iter().map(looked_up).sum();
    let mut filter = Filter::for_entries(entries, FILTER_BITS);
    for &place in &places {
        each_stretch(state.text(wide(place)), rolling, |hash, _| filter.add(hash));
    }
    let mut counts = LargeCounts::for_entries(entries * COUNTS_PER_STRETCH);
    let mut batch = Batch::default();
    for reader in 0..=wide(last) {
        // what a covered text contains, its cover contains too
        if !state.is_covered(reader) {
            rolling.for_each(state.text(reader), |hash, _| batch.push(hash));
            batch.when_full(Some(&filter), |hash| counts.add(hash));
        }
    }
    batch.empty(Some(&filter), |hash| counts.add(hash));
    let mut anchors = Vec::new();
    for &place in &places {
        let mut rarest = (u16::MAX, 0, 0);
        each_stretch(state.text(wide(place)), rolling, |hash, offset| {
            let count = counts.get(hash);
            if count <= rarest.0 {
                rarest = (count, hash, offset);
            }
        });
        let (count, hash, offset) = rarest;
        // once is its own: nothing contains it
        if count > 1 {
            let offset = small(offset);
            anchors.push((hash, Anchor { place, offset }));
        }
    }
    let open: Vec<u32> = anchors.iter().map(|(_, anchor)| anchor.place).collect();
    let steps_max = state.work.steps + limits.steps_max(state.bytes(0..wide(last) + 1));
    if let Some(from) = find(state, rolling, anchors, steps_max) {
        left.add(open, from);
    }
}

/// Calls `each` with hash and place of the stretches of a text that are looked up.
fn each_stretch(text: &[u8], rolling: Rolling, mut each: impl FnMut(u32, usize)) {
    for offset in offsets(text.len(), rolling.length()) {
        let stretch = text.get(offset..offset + rolling.length());
        each(hash(stretch.unwrap_or_default()), offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_at_least_two_thirds_of_their_text() {
        let lengths: Vec<usize> = [8, 11, 12, 17, 18, 26, 27, 39, 40, 60, 1_000]
            .map(length_of_class)
            .to_vec();
        assert_eq!(lengths, [8, 8, 12, 12, 18, 18, 27, 27, 40, 60, 681]);
        for text in 8..5_000 {
            let length = length_of_class(text);
            assert!(
                length <= text && length * 3 + 3 >= text * 2,
                "{text}: {length}"
            );
        }
    }

    #[test]
    fn the_first_and_the_last_stretch_are_among_those_looked_up() {
        let offsets = |text, stretch| offsets(text, stretch).collect::<Vec<_>>();
        assert_eq!(offsets(8, 8), [0]);
        assert_eq!(offsets(9, 8), [0, 1]);
        assert_eq!(offsets(10, 8), [0, 1, 2]);
        assert_eq!(offsets(11, 8), [0, 1, 2, 3]);
        assert_eq!(offsets(17, 12), [0, 1, 3, 5]);
    }
}
