//! Samples of a text that it shares with every text that contains it.
//!
//! The smallest of each 13 neighbouring stretches of 12 bytes ("minimizers", Roberts et al., 2004): about one in seven.
//! And each two of them that follow one another, with the distance between them: windows that move on never choose a
//! stretch further back, so a text that contains another chooses no stretch between two of the other's. Two tell texts
//! apart where stretches of 12 bytes are in many.

use super::stretches::Stretches;

/// Length of a stretch.
const GRAM: usize = 12;

/// Of this many neighbouring stretches, the one with the smallest hash is taken.
const WINDOW: usize = 13;

/// Length of the shortest text that has a sample.
pub(crate) const SHORTEST: usize = GRAM + WINDOW - 1;

/// Returns the hash of a pair of stretches and the distance between them.
fn pair(before: (u32, usize), (hash, place): (u32, usize)) -> u32 {
    let distance = (place - before.1) as u64;
    let both = u64::from(before.0) << 32 | u64::from(hash);
    let mixed = (both ^ (both >> 29) ^ distance).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

fn hash(gram: &[u8; GRAM]) -> u32 {
    let front = gram.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    let back = gram.last_chunk().map_or(0, |b| u32::from_le_bytes(*b));
    let front = front.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let back = u64::from(back).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let mixed = (front ^ back ^ (front >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32
}

/// Estimates how many samples a text of this many bytes has.
pub(crate) fn expected(bytes: usize) -> usize {
    (bytes + 1).saturating_sub(SHORTEST) * 4 / (WINDOW + 1) + 1
}

/// Finds samples; keeps memory for it.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    hashes: Vec<u32>,
}

impl Stretches for Samples {
    fn for_each(&mut self, text: &[u8], mut each: impl FnMut(u32, usize)) {
        let hashes = &mut self.hashes;
        hashes.clear();
        hashes.extend(text.array_windows().map(hash));
        let mut least = (u32::MAX, 0_usize);
        let mut reported: Option<(u32, usize)> = None;
        for (place, &hash) in hashes.iter().enumerate() {
            // Of equal hashes the last counts: this depends on the window's content alone, as it must.
            if hash <= least.0 {
                least = (hash, place);
            } else if least.1 + WINDOW <= place {
                least = last_least(hashes, place + 1 - WINDOW, place);
            }
            if place + 1 >= WINDOW && reported != Some(least) {
                if let Some(before) = reported {
                    each(pair(before, least), before.1);
                }
                each(least.0, least.1);
                reported = Some(least);
            }
        }
    }
}

fn last_least(hashes: &[u32], from: usize, to: usize) -> (u32, usize) {
    let mut least = (u32::MAX, from);
    for (hash, place) in hashes.get(from..=to).unwrap_or_default().iter().zip(from..) {
        if *hash <= least.0 {
            least = (*hash, place);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples(text: &[u8]) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        Samples::default().for_each(text, |hash, place| all.push((hash, place)));
        all
    }

    #[test]
    fn texts_from_the_shortest_on_have_samples() {
        assert_eq!(SHORTEST, 24);
        let text = [b'a'; SHORTEST];
        assert_eq!(samples(&text).len(), 1);
        assert_eq!(samples(&text[1..]).len(), 0);
    }

    proptest! {
        #[test]
        fn a_container_has_every_sample_of_its_parts(
            text in proptest::collection::vec(0..3_u8, 24..120), from in 0..60_usize, length in 24..60_usize,
        ) {
            let from = from.min(text.len() - 24);
            let part = &text[from..text.len().min(from + length)];
            let all = samples(&text);
            for (hash, place) in samples(part) {
                prop_assert!(all.contains(&(hash, place + from)));
            }
        }
    }
}
