//! The order in which texts cover each other, and the equal ones among them.

use std::cmp::Ordering;

use crate::hash::hash_bytes;
use crate::texts::{NONE, Texts, small, wide};

/// Texts that differ, the ones that may cover first: longest first, equally long ones in the caller's order.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    /// The texts' numbers.
    pub(crate) order: Vec<u32>,
    /// For each text, the number of the equal one that stands for it; `NONE` when it stands for itself.
    pub(crate) equal_to: Vec<u32>,
}

/// Sorts texts by length (longest first), then by `prefer`, and merges equal ones into the first of them.
///
/// n log n whatever the texts hold: equal hashes are checked, and texts that only share a hash are sorted themselves.
pub(crate) fn distinct_in_order(texts: &Texts, prefer: impl Fn(u32, u32) -> Ordering) -> Distinct {
    let mut order: Vec<u32> = (0..texts.len()).map(small).collect();
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(order.len());
    for &number in &order {
        keys.push((length_key(texts, number), number));
    }
    keys.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| prefer(a.1, b.1)));
    for (slot, (_, number)) in order.iter_mut().zip(&keys) {
        *slot = *number;
    }
    let equal_to = merge_equal(texts, &order, keys);
    order.retain(|&number| equal_to.get(wide(number)) == Some(&NONE));
    Distinct { order, equal_to }
}

/// Smaller for longer texts.
fn length_key(texts: &Texts, number: u32) -> u64 {
    u64::MAX - texts.get(wide(number)).len() as u64
}

/// `keys` is only reused memory.
fn merge_equal(texts: &Texts, order: &[u32], mut keys: Vec<(u64, u32)>) -> Vec<u32> {
    keys.clear();
    for (place, &number) in order.iter().enumerate() {
        keys.push((hash_bytes(texts.get(wide(number))), small(place)));
    }
    keys.sort_unstable();
    let at = |place: u32| order.get(wide(place)).copied().unwrap_or(NONE);
    let text = |place: u32| texts.get(wide(at(place)));
    let mut equal_to = vec![NONE; order.len()];
    let mut merge = |group: &[(u64, u32)]| {
        if let [(_, first), others @ ..] = group {
            for (_, other) in others {
                if let Some(slot) = equal_to.get_mut(wide(at(*other))) {
                    *slot = at(*first);
                }
            }
        }
    };
    for run in keys.chunk_by_mut(|a, b| a.0 == b.0) {
        let [(_, first), others @ ..] = &*run else {
            continue;
        };
        if others.iter().all(|(_, other)| text(*other) == text(*first)) {
            merge(run);
        } else {
            run.sort_by(|a, b| text(a.1).cmp(text(b.1)).then(a.1.cmp(&b.1)));
            for group in run.chunk_by(|a, b| text(a.1) == text(b.1)) {
                merge(group);
            }
        }
    }
    equal_to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_first_and_equal_ones_stand_behind_the_preferred() {
        let mut texts = Texts::default();
        for text in ["b", "abc", "b", "xyz", "b", "abc"] {
            texts.push(text.as_bytes());
        }
        // The caller prefers the larger number.
        let distinct = distinct_in_order(&texts, |a, b| b.cmp(&a));
        assert_eq!(distinct.order, [5, 3, 4]);
        assert_eq!(distinct.equal_to, [4, 5, 4, NONE, NONE, NONE]);
    }
}
