//! Hashes of short stretches of a text, and a sample of them that a text shares with every text that contains it.

/// Which stretches of a text are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampling {
    gram: Gram,
    /// Of this many neighbouring stretches, the one with the smallest hash is taken.
    window: usize,
}

/// Length of a stretch.
#[derive(Debug, Clone, Copy)]
enum Gram {
    Eight,
    Twelve,
}

/// Every stretch of 8 bytes.
pub(crate) const EVERY: Sampling = Sampling {
    gram: Gram::Eight,
    window: 1,
};

/// The smallest of each 13 neighbouring stretches of 12 bytes ("minimizers", Roberts et al., 2004): about one in
/// seven. A text of at least 24 bytes has one, and whatever contains the text has the same at the same place in it.
pub(crate) const SPARSE: Sampling = Sampling {
    gram: Gram::Twelve,
    window: 13,
};

const A: u64 = 0x9E37_79B9_7F4A_7C15;
const B: u64 = 0xD6E8_FEB8_6659_FD93;

fn upper(product: u64) -> u32 {
    (product >> 32) as u32
}

fn hash8(bytes: [u8; 8]) -> u32 {
    let word = u64::from_le_bytes(bytes).wrapping_mul(A);
    upper((word ^ (word >> 29)).wrapping_mul(B))
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

fn hash12(bytes: &[u8; 12]) -> u32 {
    let (front, back) = bytes.split_at(8);
    let front = word(front).wrapping_mul(A);
    let back = word(back).wrapping_mul(B);
    upper((front ^ back ^ (front >> 31)).wrapping_mul(A))
}

impl Sampling {
    /// Length of the shortest text that has a sample.
    pub(crate) fn shortest(self) -> usize {
        self.gram.len() + self.window - 1
    }

    /// Estimates how many samples a text of this many bytes has.
    pub(crate) fn expected(self, bytes: usize) -> usize {
        (bytes + 1).saturating_sub(self.shortest()) * 2 / (self.window + 1) + 1
    }

    /// Calls `each` with hash and place of every sample of a text, in order. `hashes` is reused memory.
    pub(crate) fn for_each(
        self,
        text: &[u8],
        hashes: &mut Vec<u32>,
        mut each: impl FnMut(u32, usize),
    ) {
        if self.window == 1 {
            match self.gram {
                Gram::Eight => every(text, |gram| hash8(*gram), each),
                Gram::Twelve => every(text, hash12, each),
            }
            return;
        }
        hashes.clear();
        match self.gram {
            Gram::Eight => hashes.extend(windows::<8>(text).map(|gram| hash8(*gram))),
            Gram::Twelve => hashes.extend(windows::<12>(text).map(hash12)),
        }
        let mut least = (u32::MAX, 0_usize);
        let mut reported = usize::MAX;
        for (place, &hash) in hashes.iter().enumerate() {
            // Of equal hashes the last counts: this depends on the window's content alone, as it must.
            if hash <= least.0 {
                least = (hash, place);
            } else if least.1 + self.window <= place {
                least = last_least(hashes, place + 1 - self.window, place);
            }
            if place + 1 >= self.window && least.1 != reported {
                reported = least.1;
                each(least.0, least.1);
            }
        }
    }
}

impl Gram {
    fn len(self) -> usize {
        match self {
            Self::Eight => 8,
            Self::Twelve => 12,
        }
    }
}

fn every<const N: usize>(
    text: &[u8],
    hash: impl Fn(&[u8; N]) -> u32,
    mut each: impl FnMut(u32, usize),
) {
    for (place, gram) in windows::<N>(text).enumerate() {
        each(hash(gram), place);
    }
}

fn windows<const N: usize>(text: &[u8]) -> impl Iterator<Item = &[u8; N]> {
    text.array_windows::<N>()
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

    fn samples(sampling: Sampling, text: &[u8]) -> Vec<(u32, usize)> {
        let mut all = Vec::new();
        sampling.for_each(text, &mut Vec::new(), |hash, place| all.push((hash, place)));
        all
    }

    #[test]
    fn texts_from_the_shortest_on_have_samples() {
        for sampling in [EVERY, SPARSE] {
            let text = vec![b'a'; sampling.shortest()];
            assert_eq!(samples(sampling, &text).len(), 1);
            assert_eq!(samples(sampling, &text[1..]).len(), 0);
        }
        assert_eq!([EVERY, SPARSE].map(Sampling::shortest), [8, 24]);
    }

    proptest! {
        #[test]
        fn a_container_has_every_sample_of_its_parts(
            text in proptest::collection::vec(0..3_u8, 24..120), from in 0..60_usize, length in 24..60_usize,
        ) {
            let from = from.min(text.len() - 24);
            let part = &text[from..text.len().min(from + length)];
            for sampling in [EVERY, SPARSE] {
                let all = samples(sampling, &text);
                for (hash, place) in samples(sampling, part) {
                    prop_assert!(all.contains(&(hash, place + from)));
                }
            }
        }
    }
}
