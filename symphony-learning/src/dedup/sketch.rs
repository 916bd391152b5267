//! Small tables of hashes that answer "surely not" and "at most this often".

use crate::texts::{NONE, small, wide};

/// Spreads sampled hashes, which are small on purpose, over a table of `2^bits` places.
fn place(hash: u32, bits: u32) -> usize {
    let spread = (hash ^ (hash >> 15)).wrapping_mul(0x9E37_79B1);
    wide((spread ^ (spread >> 13)).wrapping_mul(0x85EB_CA77) >> (32 - bits))
}

/// Bits that number at least `entries` places, in 10..=31.
fn bits_for(entries: usize) -> u32 {
    entries.clamp(1 << 10, 1 << 31).next_power_of_two().ilog2()
}

/// Counts hashes up to 15. What it says is never too small.
#[derive(Debug)]
pub(crate) struct Counts {
    bits: u32,
    /// Two counts to a byte.
    nibbles: Vec<u8>,
}

impl Counts {
    /// The largest count: this often or more.
    pub(crate) const MANY: u8 = 15;

    pub(crate) fn for_entries(entries: usize) -> Self {
        let bits = bits_for(entries);
        Self {
            bits,
            nibbles: vec![0; 1 << (bits - 1)],
        }
    }

    pub(crate) fn add(&mut self, hash: u32) {
        let place = place(hash, self.bits);
        if let Some(byte) = self.nibbles.get_mut(place / 2) {
            let shift = (place % 2) * 4;
            if (*byte >> shift) & Self::MANY < Self::MANY {
                *byte += 1 << shift;
            }
        }
    }

    pub(crate) fn get(&self, hash: u32) -> u8 {
        let place = place(hash, self.bits);
        let byte = self.nibbles.get(place / 2).copied().unwrap_or(0);
        (byte >> ((place % 2) * 4)) & Self::MANY
    }
}

/// Counts hashes up to 65,535. What it says is never too small.
#[derive(Debug)]
pub(crate) struct LargeCounts {
    bits: u32,
    counts: Vec<u16>,
}

impl LargeCounts {
    pub(crate) fn for_entries(entries: usize) -> Self {
        let bits = bits_for(entries);
        Self {
            bits,
            counts: vec![0; 1 << bits],
        }
    }

    pub(crate) fn add(&mut self, hash: u32) {
        if let Some(count) = self.counts.get_mut(place(hash, self.bits)) {
            *count = count.saturating_add(1);
        }
    }

    pub(crate) fn get(&self, hash: u32) -> u16 {
        let count = self.counts.get(place(hash, self.bits));
        count.copied().unwrap_or(0)
    }
}

/// A set of hashes that may also claim ones it does not hold (about one in eight).
#[derive(Debug)]
pub(crate) struct Filter {
    bits: u32,
    words: Vec<u64>,
}

impl Filter {
    pub(crate) fn for_entries(entries: usize) -> Self {
        let bits = bits_for(entries.saturating_mul(8));
        Self {
            bits,
            words: vec![0; 1 << (bits - 6)],
        }
    }

    pub(crate) fn add(&mut self, hash: u32) {
        let place = place(hash, self.bits);
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(crate) fn may_hold(&self, hash: u32) -> bool {
        let place = place(hash, self.bits);
        let word = self.words.get(place / 64).copied().unwrap_or(0);
        (word >> (place % 64)) & 1 == 1
    }
}

/// Entries under hashes: a list for each of `2^bits` places.
#[derive(Debug)]
pub(crate) struct Table<T> {
    bits: u32,
    heads: Vec<u32>,
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    hash: u32,
    next: u32,
    value: T,
}

/// What to do with an entry that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Remove,
}

impl<T> Table<T> {
    pub(crate) fn new(values: Vec<(u32, T)>) -> Self {
        let bits = bits_for(values.len());
        let mut heads = vec![NONE; 1 << bits];
        let mut entries = Vec::with_capacity(values.len());
        for (hash, value) in values {
            let head = heads.get_mut(place(hash, bits));
            let this = small(entries.len());
            let next = head.map_or(NONE, |head| std::mem::replace(head, this));
            entries.push(Entry { hash, next, value });
        }
        Self {
            bits,
            heads,
            entries,
        }
    }

    /// Calls `look` with every entry under a hash, and forgets those it no longer wants. Returns how many entries were passed.
    pub(crate) fn visit(&mut self, hash: u32, mut look: impl FnMut(&T) -> Fate) -> u64 {
        let Some(head) = self.heads.get_mut(place(hash, self.bits)) else {
            return 0;
        };
        let mut passed = 0;
        let mut at = *head;
        let mut before = NONE;
        while let Some(entry) = self.entries.get(wide(at)) {
            passed += 1;
            let next = entry.next;
            if entry.hash == hash && look(&entry.value) == Fate::Remove {
                match self.entries.get_mut(wide(before)) {
                    Some(before) => before.next = next,
                    None => *head = next,
                }
            } else {
                before = at;
            }
            at = next;
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_small() {
        let mut counts = Counts::for_entries(1);
        for hash in 0..200_u32 {
            for _ in 0..=hash % 20 {
                counts.add(hash * 77);
            }
        }
        for hash in 0..200_u32 {
            let true_count = u8::try_from(hash % 20 + 1).unwrap();
            assert!(
                counts.get(hash * 77) >= true_count.min(Counts::MANY),
                "{hash}"
            );
        }
    }

    #[test]
    fn a_filter_holds_what_was_added() {
        let mut filter = Filter::for_entries(100);
        (0..100).for_each(|hash| filter.add(hash));
        assert!((0..100).all(|hash| filter.may_hold(hash)));
        let wrong = (100..10_100).filter(|&hash| filter.may_hold(hash)).count();
        assert!(wrong < 2_500, "{wrong} of 10,000");
    }

    #[test]
    fn removed_entries_are_gone_and_the_others_stay() {
        let mut table = Table::new((0..50).map(|value| (value % 5, value)).collect());
        let mut seen = Vec::new();
        table.visit(3, |&value| {
            seen.push(value);
            if value % 2 == 0 {
                Fate::Remove
            } else {
                Fate::Keep
            }
        });
        seen.sort_unstable();
        assert_eq!(seen, [3, 8, 13, 18, 23, 28, 33, 38, 43, 48]);
        let mut left = Vec::new();
        table.visit(3, |&value| {
            left.push(value);
            Fate::Remove
        });
        left.sort_unstable();
        assert_eq!(left, [3, 13, 23, 33, 43]);
        assert_eq!(table.visit(3, |_| Fate::Keep), 0);
    }
}
