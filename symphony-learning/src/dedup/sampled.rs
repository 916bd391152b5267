//! Decides texts by samples that a text shares with every text that contains it.
//!
//! A sample that occurs once in all texts proves that nothing contains its text: this decides most of them after one
//! pass. The others are found by their rarest sample in a second pass. Steps are counted; when there are too many, an
//! automaton does the rest.

use std::ops::Range;

use super::Limits;
use super::full::{State, resolve_by_automaton};
use super::gram::Sampling;
use super::sketch::{Counts, Fate, Filter, Table};
use crate::texts::{small, wide};

/// A stretch of the order: texts of similar length.
pub(crate) struct Class {
    /// The places to decide. All texts before the end of it may contain them.
    pub(crate) patterns: Range<usize>,
    /// How they are sampled; none is shorter than its shortest.
    pub(crate) sampling: Sampling,
}

/// An undecided text under its rarest sample.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    place: u32,
    /// Where the sample lies in the text.
    offset: u32,
}

/// Decides the texts of a class.
pub(crate) fn resolve(state: &mut State<'_>, class: &Class, limits: Limits) {
    if class.patterns.is_empty() {
        return;
    }
    let readers = 0..class.patterns.end;
    let bytes = state.bytes(readers.clone());
    let counts = count(state, class, bytes);
    let anchors = undecided(state, class, &counts);
    drop(counts);
    let steps_max = state.work.steps + limits.steps_max(bytes);
    if let Some(stopped_at) = find(state, class, anchors, steps_max) {
        let rest = class.patterns.clone().map(small).collect();
        resolve_by_automaton(state, rest, stopped_at);
    }
}

/// Counts the samples of all texts that may contain one of the class, as far as the class has them too.
fn count(state: &State<'_>, class: &Class, bytes: usize) -> Counts {
    let own_bytes = state.bytes(class.patterns.clone());
    let own_samples: usize = class
        .patterns
        .clone()
        .map(|place| class.sampling.expected(state.text(place).len()))
        .sum();
    let mut counts = Counts::for_entries(own_samples);
    let mut hashes = Vec::new();
    if own_bytes >= bytes / 2 {
        for place in 0..class.patterns.end {
            class
                .sampling
                .for_each(state.text(place), &mut hashes, |hash, _| counts.add(hash));
        }
        return counts;
    }
    let mut filter = Filter::for_entries(own_samples);
    for place in class.patterns.clone() {
        class
            .sampling
            .for_each(state.text(place), &mut hashes, |hash, _| filter.add(hash));
    }
    for place in 0..class.patterns.end {
        class
            .sampling
            .for_each(state.text(place), &mut hashes, |hash, _| {
                if filter.may_hold(hash) {
                    counts.add(hash);
                }
            });
    }
    counts
}

/// Lists the texts of the class whose samples all occur more than once, each under its rarest.
fn undecided(state: &State<'_>, class: &Class, counts: &Counts) -> Vec<(u32, Anchor)> {
    let mut anchors = Vec::new();
    let mut hashes = Vec::new();
    for place in class.patterns.clone() {
        let mut rarest = (u8::MAX, 0, 0);
        class
            .sampling
            .for_each(state.text(place), &mut hashes, |hash, offset| {
                let count = counts.get(hash);
                if count < rarest.0 {
                    rarest = (count, hash, offset);
                }
            });
        let (count, hash, offset) = rarest;
        if count > 1 {
            let anchor = Anchor {
                place: small(place),
                offset: small(offset),
            };
            anchors.push((hash, anchor));
        }
    }
    anchors
}

/// Reads the texts in order and compares where a sample is an anchor. Returns the place it stopped at when the steps
/// were used up.
fn find(
    state: &mut State<'_>,
    class: &Class,
    anchors: Vec<(u32, Anchor)>,
    steps_max: u64,
) -> Option<usize> {
    let last = anchors.iter().map(|(_, anchor)| wide(anchor.place)).max()?;
    let mut filter = Filter::for_entries(anchors.len());
    for (hash, _) in &anchors {
        filter.add(*hash);
    }
    let mut table = Table::new(anchors);
    let mut hashes = Vec::new();
    for reader in 0..last {
        // What covered texts contain, their cover contains too, and it was read before.
        if state.is_covered(reader) {
            continue;
        }
        let text = state.text(reader);
        class.sampling.for_each(text, &mut hashes, |hash, place| {
            if filter.may_hold(hash) && state.work.steps <= steps_max {
                let steps = table.visit(hash, |anchor| compare(state, reader, place, *anchor));
                state.work.steps += steps;
            }
        });
        if state.work.steps > steps_max {
            return Some(reader);
        }
    }
    None
}

fn compare(state: &mut State<'_>, reader: usize, place: usize, anchor: Anchor) -> Fate {
    if wide(anchor.place) <= reader || state.is_covered(wide(anchor.place)) {
        return Fate::Remove;
    }
    let pattern = state.text(wide(anchor.place));
    let found = place.checked_sub(wide(anchor.offset)).and_then(|start| {
        let end = start.checked_add(pattern.len())?;
        state.text(reader).get(start..end)
    });
    let Some(found) = found else {
        return Fate::Keep;
    };
    state.work.steps += pattern.len() as u64 / 16;
    if found == pattern {
        state.set_covered(anchor.place, small(reader));
        Fate::Remove
    } else {
        Fate::Keep
    }
}
