//! Hashes of all stretches of one length, each from the one before (Karp and Rabin, 1987).

use super::stretches::Stretches;

/// Odd, so that multiplying by it loses nothing modulo 2^64.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;

/// Hashes stretches of a fixed length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rolling {
    length: usize,
    /// What a byte weighs when it leaves the stretch: the base to the power of the length.
    leaving: u64,
}

impl Rolling {
    /// Hashes stretches of `length` bytes, at least one.
    pub(crate) fn new(length: usize) -> Self {
        let leaving = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
        Self { length, leaving }
    }

    pub(crate) const fn length(self) -> usize {
        self.length
    }
}

impl Stretches for Rolling {
    fn for_each(&mut self, text: &[u8], mut each: impl FnMut(u32, usize)) {
        let Some((first, entering)) = text.split_at_checked(self.length) else {
            return;
        };
        let mut hash = first.iter().fold(0, |hash, &byte| enter(hash, byte));
        each(finish(hash), 0);
        for ((place, &byte), &leaving) in (1..).zip(entering).zip(text) {
            let gone = u64::from(leaving).wrapping_mul(self.leaving);
            hash = enter(hash, byte).wrapping_sub(gone);
            each(finish(hash), place);
        }
    }
}

/// Returns the hash of one stretch.
pub(crate) fn hash(stretch: &[u8]) -> u32 {
    finish(stretch.iter().fold(0, |hash, &byte| enter(hash, byte)))
}

const fn enter(hash: u64, byte: u8) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(byte as u64)
}

/// Mixes the high half into the low one and keeps the best bits: the low ones depend on few bytes.
const fn finish(hash: u64) -> u32 {
    ((hash ^ (hash >> 32)).wrapping_mul(SPREAD) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stretch_has_the_hash_it_has_alone() {
        let text = "абвгд the quick brown fox jumps over the lazy dog".as_bytes();
        for length in 1..=text.len() + 1 {
            let mut rolling = Rolling::new(length);
            let mut all = Vec::new();
            rolling.for_each(text, |hash, place| all.push((hash, place)));
            let alone: Vec<(u32, usize)> = text
                .windows(length)
                .enumerate()
                .map(|(place, stretch)| (hash(stretch), place))
                .collect();
            assert_eq!(all, alone, "{length}");
        }
    }
}
