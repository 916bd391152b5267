//! Finds out which texts are contained in others, by samples: short pieces that a text shares with every text that
//! contains it.
//!
//! If a sample occurs only once in all texts, no other text can contain the one that it comes from. One pass over the texts
//! decides most of them this way. A second pass looks for the rarest sample of each of the others, and compares the
//! texts that have it. Steps are counted: after too many of them the caller has to use another method.

use super::gram::{self, Samples};
use super::limits::Limits;
use super::sketch::{Batch, Counts, Fate, Filter, Table};
use super::state::State;
use super::stretches::Stretches;
use crate::texts::{small, wide};

/// What is left for the next method.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// The places that are not decided.
    pub(crate) places: Vec<u32>,
    /// What is contained in a text before this place has been found.
    pub(crate) from: usize,
}

impl Rest {
    /// Adds places for which the texts before `from` have been read.
    pub(crate) fn add(&mut self, places: Vec<u32>, from: usize) {
        self.from = if self.places.is_empty() {
            from
        } else {
            self.from.min(from)
        };
        self.places.extend(places);
    }
}

/// An undecided text under its rarest sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Anchor {
    pub(crate) place: u32,
    /// Where the sample is in the text.
    pub(crate) offset: u32,
}

/// Decides the texts at `places` (sorted), none of them shorter than [`gram::SHORTEST`], as far as the steps go.
pub(crate) fn resolve(state: &mut State<'_>, places: &[u32], limits: Limits) -> Rest {
    let Some(&last) = places.last() else {
        return Rest::default();
    };
    let bytes = state.bytes(0..wide(last) + 1);
    let counts = count(state, places, bytes);
    let Undecided {
        mut anchors,
        mut common,
    } = undecided(state, places, &counts);
    drop(counts);
    if common.len() <= places.len() / FEW_ONE_IN {
        anchors.append(&mut common);
    }
    let steps_max = state.work.steps + limits.steps_max(bytes);
    let open: Vec<u32> = anchors.iter().map(|(_, anchor)| anchor.place).collect();
    let mut rest = Rest::default();
    if let Some(from) = find(state, Samples::default(), anchors, steps_max) {
        rest.add(open, from);
    }
    if !common.is_empty() {
        // what is common was not looked for in any text
        let places = common.iter().map(|(_, anchor)| anchor.place).collect();
        rest.add(places, 0);
    }
    rest
}

/// Bits of the filter for each sample: about 1 in 8 others passes.
const FILTER_BITS: usize = 8;

/// Texts that have only common samples are looked for like the others if at most one text in 64 is like that: a text that
/// occurs often is found soon. If there were more of them, they would use up the steps of all texts.
const FEW_ONE_IN: usize = 64;

/// Counts the samples of all texts that may contain one of those at `places`, as far as these have them too.
fn count(state: &State<'_>, places: &[u32], bytes: usize) -> Counts {
    let texts = || places.iter().map(|&place| state.text(wide(place)));
    let own_bytes: usize = texts().map(<[u8]>::len).sum();
    let own_samples: usize = texts().map(|text| gram::expected(text.len())).sum();
    let mut samples = Samples::default();
    let filter = (own_bytes < bytes / 2).then(|| {
        let mut filter = Filter::for_entries(own_samples, FILTER_BITS);
        for text in texts() {
            samples.for_each(text, |hash, _| filter.add(hash));
        }
        filter
    });
    let mut counts = Counts::for_entries(own_samples);
    let mut batch = Batch::default();
    for place in 0..places.last().map_or(0, |&last| wide(last) + 1) {
        // What a covered text contains, its cover contains too.
        if !state.is_covered(place) {
            samples.for_each(state.text(place), |hash, _| batch.push(hash));
            batch.when_full(filter.as_ref(), |hash| counts.add(hash));
        }
    }
    batch.empty(filter.as_ref(), |hash| counts.add(hash));
    counts
}

struct Undecided {
    /// Texts whose samples all occur more than once, each under its rarest.
    anchors: Vec<(u32, Anchor)>,
    /// Texts whose rarest sample is so common that its count overflowed.
    common: Vec<(u32, Anchor)>,
}

fn undecided(state: &State<'_>, places: &[u32], counts: &Counts) -> Undecided {
    let mut undecided = Undecided {
        anchors: Vec::new(),
        common: Vec::new(),
    };
    let mut samples = Samples::default();
    for &place in places {
        let mut rarest = (u8::MAX, 0, 0);
        samples.for_each(state.text(wide(place)), |hash, offset| {
            // Once is enough to know that nothing contains it.
            if rarest.0 <= 1 {
                return;
            }
            let count = counts.get(hash);
            if count < rarest.0 {
                rarest = (count, hash, offset);
            }
        });
        let (count, hash, offset) = rarest;
        let offset = small(offset);
        let anchor = (hash, Anchor { place, offset });
        if count >= Counts::MANY {
            undecided.common.push(anchor);
        } else if count > 1 {
            undecided.anchors.push(anchor);
        }
    }
    undecided
}

/// Reads the texts in order, and compares where one of the stretches is an anchor.
/// Returns the place it stopped at when the steps were used up.
pub(crate) fn find(
    state: &mut State<'_>,
    mut stretches: impl Stretches,
    anchors: Vec<(u32, Anchor)>,
    steps_max: u64,
) -> Option<usize> {
    let last = anchors.iter().map(|(_, anchor)| wide(anchor.place)).max()?;
    let mut table = Table::new(anchors);
    for reader in 0..last {
        // What covered texts contain, their cover contains too, and it was read before.
        if state.is_covered(reader) {
            continue;
        }
        stretches.for_each(state.text(reader), |hash, place| {
            if table.may_hold(hash) && state.work.steps <= steps_max {
                let steps = table.visit(hash, |anchor| compare(state, reader, place, *anchor));
                state.work.steps += steps;
            }
        });
        if state.work.steps > steps_max {
            return Some(reader);
        }
        if table.is_empty() {
            return None;
        }
        table.shrink();
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
