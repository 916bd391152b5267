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

/// Counts how often hashes occur, up to 15. A count may be too large, but never too small.
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

/// Counts how often hashes occur, up to 65,535. A count may be too large, but never too small.
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

/// A set of hashes that may report hashes it does not hold: the more bits, the fewer of them.
#[derive(Debug)]
pub(crate) struct Filter {
    bits: u32,
    words: Vec<u64>,
}

impl Filter {
    pub(crate) fn for_entries(entries: usize, bits_per_entry: usize) -> Self {
        let bits = bits_for(entries.saturating_mul(bits_per_entry));
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

/// Hashes that wait until there are many: one after the other, each would wait for its place in a table to come from
/// memory; many at once wait together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    hashes: Vec<u32>,
}

/// Hashes that are looked up at once: few enough to stay in a core's nearest cache.
const BATCH: usize = 2_048;

impl Batch {
    pub(crate) fn push(&mut self, hash: u32) {
        self.hashes.push(hash);
    }

    /// Calls `each` with those that a filter lets pass once there are enough of them.
    pub(crate) fn when_full(&mut self, filter: Option<&Filter>, each: impl FnMut(u32)) {
        if self.hashes.len() >= BATCH {
            self.empty(filter, each);
        }
    }

    /// Calls `each` with those that a filter lets pass.
    pub(crate) fn empty(&mut self, filter: Option<&Filter>, each: impl FnMut(u32)) {
        if let Some(filter) = filter {
            // Moving on only behind those that pass leaves no branch to mispredict.
            let mut passed = 0;
            for at in 0..self.hashes.len() {
                let hash = self.hashes.get(at).copied().unwrap_or_default();
                if let Some(slot) = self.hashes.get_mut(passed) {
                    *slot = hash;
                }
                passed += usize::from(filter.may_hold(hash));
            }
            self.hashes.truncate(passed);
        }
        self.hashes.drain(..).for_each(each);
    }
}

/// A set of numbers that may also claim ones it does not hold: the more bits, the fewer.
#[derive(Debug)]
pub(crate) struct WordFilter {
    shift: u32,
    bits: Vec<u64>,
}

impl WordFilter {
    pub(crate) fn new(words: impl ExactSizeIterator<Item = u64>, bits_per_word: usize) -> Self {
        let bits = words
            .len()
            .saturating_mul(bits_per_word)
            .clamp(1 << 6, 1 << 26)
            .next_power_of_two()
            .ilog2();
        let mut filter = Self {
            shift: 64 - bits,
            bits: vec![0; 1 << (bits - 6)],
        };
        for word in words {
            let (place, bit) = filter.place(word);
            if let Some(bits) = filter.bits.get_mut(place) {
                *bits |= bit;
            }
        }
        filter
    }

    fn place(&self, word: u64) -> (usize, u64) {
        let hash = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        let place = usize::try_from(hash >> 6).unwrap_or(usize::MAX);
        (place, 1 << (hash & 63))
    }

    pub(crate) fn may_hold(&self, word: u64) -> bool {
        let (place, bit) = self.place(word);
        self.bits.get(place).is_some_and(|bits| bits & bit != 0)
    }
}

/// Entries under hashes: a list for each of `2^bits` places, and a filter before them.
#[derive(Debug)]
pub(crate) struct Table<T> {
    bits: u32,
    filter: Filter,
    heads: Vec<u32>,
    entries: Vec<Entry<T>>,
    /// How many entries no list holds any more.
    removed: usize,
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

/// Bits of a table's filter for each entry: about 1 in 16 other hashes passes.
const TABLE_FILTER_BITS: usize = 16;

impl<T: Copy> Table<T> {
    pub(crate) fn new(values: Vec<(u32, T)>) -> Self {
        let bits = bits_for(values.len());
        let mut filter = Filter::for_entries(values.len(), TABLE_FILTER_BITS);
        let mut heads = vec![NONE; 1 << bits];
        let mut entries = Vec::with_capacity(values.len());
        for (hash, value) in values {
            filter.add(hash);
            let head = heads.get_mut(place(hash, bits));
            let this = small(entries.len());
            let next = head.map_or(NONE, |head| std::mem::replace(head, this));
            entries.push(Entry { hash, next, value });
        }
        Self {
            bits,
            filter,
            heads,
            entries,
            removed: 0,
        }
    }

    pub(crate) fn may_hold(&self, hash: u32) -> bool {
        self.filter.may_hold(hash)
    }

    /// Calls `look` with every entry under a hash, and removes those it no longer wants. Returns how many entries were passed.
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
                self.removed += 1;
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

    pub(crate) fn is_empty(&self) -> bool {
        self.removed == self.entries.len()
    }

    /// Makes the table again once half of its entries are gone: its filter still lets pass what asks for them.
    pub(crate) fn shrink(&mut self) {
        if self.removed == 0 || self.removed < self.entries.len() / 2 {
            return;
        }
        let mut values = Vec::with_capacity(self.entries.len() - self.removed);
        for &head in &self.heads {
            let mut at = head;
            while let Some(entry) = self.entries.get(wide(at)) {
                values.push((entry.hash, entry.value));
                at = entry.next;
            }
        }
        *self = Self::new(values);
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
        let mut filter = Filter::for_entries(100, 8);
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
        table.visit(4, |_| Fate::Remove);
        table.shrink();
        assert!(table.may_hold(4), "few are gone");
        table.visit(2, |_| Fate::Remove);
        table.shrink();
        assert_eq!(
            [0, 1, 2, 3, 4].map(|hash| table.may_hold(hash)),
            [true, true, false, false, false]
        );
        assert_eq!(table.visit(1, |_| Fate::Remove), 10);
        assert!(!table.is_empty());
        table.visit(0, |_| Fate::Remove);
        assert!(table.is_empty());
    }
}
