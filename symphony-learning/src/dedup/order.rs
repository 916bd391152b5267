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

/// Merges equal texts into the one that comes first in `prefer`, and sorts those that are left by length (longest first),
/// then by `prefer`.
///
/// n log n whatever the texts hold: equal hashes are checked, and texts that only share a hash are sorted themselves.
pub(crate) fn distinct_in_order(texts: &Texts, prefer: impl Fn(u32, u32) -> Ordering) -> Distinct {
    let equal_to = merge_equal(texts, &prefer);
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(texts.len());
    for (number, &first) in (0..).zip(&equal_to) {
        if first == NONE {
            let shorter_last = u64::MAX - texts.get(wide(number)).len() as u64;
            keys.push((shorter_last, number));
        }
    }
    keys.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| prefer(a.1, b.1)));
    Distinct {
        order: keys.iter().map(|&(_, number)| number).collect(),
        equal_to,
    }
}

fn merge_equal(texts: &Texts, prefer: impl Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let text = |number: u32| texts.get(wide(number));
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(texts.len());
    for number in (0..texts.len()).map(small) {
        keys.push((hash_bytes(text(number)), number));
    }
    keys.sort_unstable();
    let mut equal_to = vec![NONE; texts.len()];
    let mut merge = |group: &[(u64, u32)]| {
        let first = group.iter().min_by(|a, b| prefer(a.1, b.1));
        let Some(&(_, first)) = first else { return };
        for &(_, number) in group {
            if let (Some(slot), true) = (equal_to.get_mut(wide(number)), number != first) {
                *slot = first;
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
            run.sort_by(|a, b| text(a.1).cmp(text(b.1)));
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
