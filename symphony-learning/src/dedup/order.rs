//! The order in which texts cover each other, and the equal ones among them.

use std::cmp::Ordering;

use crate::hash::hash_bytes;
use crate::texts::{NONE, Texts, small, wide};

/// Texts in the order in which they may cover: longest first, equally long ones as the caller prefers. They are named by
/// their place in it.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// Copied, so that reading them in order reads memory in order.
    pub(crate) texts: Texts,
    /// For each place the number by which the caller knows the text.
    pub(crate) numbers: Vec<u32>,
    /// For each place that of the first equal text; `NONE` for the first one itself.
    pub(crate) equal_to: Vec<u32>,
}

/// Sorts texts by length (longest first), then by `prefer`; empty ones are left out. `early` is a quick form of `prefer`:
/// the text with the smaller number comes first, and `prefer` decides between equal numbers.
///
/// n log n whatever the texts hold: equal hashes are checked, and texts that only share a hash are sorted themselves.
pub(crate) fn in_order(
    texts: &Texts,
    early: impl Fn(u32) -> i64,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Ordered {
    let numbers = sorted(texts, early, prefer);
    let mut copy = Texts::default();
    copy.reserve(numbers.len(), texts.bytes().len());
    for &number in &numbers {
        copy.push(texts.get(wide(number)));
    }
    Ordered {
        equal_to: equal(&copy),
        texts: copy,
        numbers,
    }
}

/// Sorts numbers that hold all that is compared: what lies elsewhere is read only for texts that are alike in it.
fn sorted(
    texts: &Texts,
    early: impl Fn(u32) -> i64,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Vec<u32> {
    let number = |key: u128| u32::try_from(key & u128::from(u32::MAX)).expect("32 bits were left");
    let mut keys: Vec<u128> = Vec::with_capacity(texts.len());
    for text in (0..texts.len()).map(small) {
        let length = u32::try_from(texts.get(wide(text)).len())
            .expect("a text of 4 GiB passes every limit on input long before");
        if length == 0 {
            continue;
        }
        let early = early(text).cast_unsigned() ^ (1 << 63);
        let key = u128::from(u32::MAX - length) << 96 | u128::from(early) << 32;
        keys.push(key | u128::from(text));
    }
    keys.sort_unstable();
    for alike in keys.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
        if alike.len() > 1 {
            alike.sort_unstable_by(|&a, &b| prefer(number(a), number(b)));
        }
    }
    keys.into_iter().map(number).collect()
}

/// Returns for each of some texts in order the place of the first that equals it.
fn equal(texts: &Texts) -> Vec<u32> {
    let mut equal_to = vec![NONE; texts.len()];
    let length = |place: usize| texts.get(place).len();
    let mut keys: Vec<(u64, u32)> = Vec::new();
    for place in 0..texts.len() {
        keys.push((hash_bytes(texts.get(place)), small(place)));
        // Equally long ones lie together, so that few are sorted at once and what is compared is near.
        if place + 1 == texts.len() || length(place + 1) != length(place) {
            keys.sort_unstable();
            for run in keys.chunk_by_mut(|a, b| a.0 == b.0) {
                merge(texts, run, &mut equal_to);
            }
            keys.clear();
        }
    }
    equal_to
}

/// Merges the equal ones among texts with the same hash, given by place in order.
fn merge(texts: &Texts, run: &mut [(u64, u32)], equal_to: &mut [u32]) {
    let text = |place: u32| texts.get(wide(place));
    let [(_, first), others @ ..] = &*run else {
        return;
    };
    if !others.iter().all(|(_, other)| text(*other) == text(*first)) {
        run.sort_unstable_by(|&(_, a), &(_, b)| text(a).cmp(text(b)).then(a.cmp(&b)));
    }
    for equal in run.chunk_by(|a, b| text(a.1) == text(b.1)) {
        let [(_, first), others @ ..] = equal else {
            continue;
        };
        for &(_, other) in others {
            if let Some(slot) = equal_to.get_mut(wide(other)) {
                *slot = *first;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_first_and_equal_ones_stand_behind_the_preferred() {
        let mut texts = Texts::default();
        for text in ["b", "abc", "b", "xyz", "b", "abc", ""] {
            texts.push(text.as_bytes());
        }
        // The caller prefers the larger number; pairs of them are alike at first.
        let ordered = in_order(&texts, |n| -i64::from(n / 2), |a, b| b.cmp(&a));
        assert_eq!(ordered.numbers, [5, 3, 1, 4, 2, 0]);
        assert_eq!(ordered.texts.bytes(), b"abc\nxyz\nabc\nb\nb\nb\n");
        assert_eq!(ordered.equal_to, [NONE, NONE, 0, NONE, 3, 3]);
    }

    #[test]
    fn texts_that_share_only_their_hash_are_told_apart() {
        let mut texts = Texts::default();
        for text in ["b", "a", "b", "c", "a"] {
            texts.push(text.as_bytes());
        }
        let mut equal_to = vec![NONE; 5];
        let mut run: Vec<(u64, u32)> = (0..5).map(|place| (7, place)).collect();
        merge(&texts, &mut run, &mut equal_to);
        assert_eq!(equal_to, [NONE, NONE, 0, NONE, 1]);
    }
}
