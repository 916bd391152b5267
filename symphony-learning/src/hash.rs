//! A 64-bit hash of bytes: the same on every machine and in every release, because stores keep it.

/// Odd multiplier of the word step (the golden ratio in 64 bits).
const WORD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hashes bytes. Not keyed: who needs safety against crafted collisions compares the bytes too.
///
/// One word step per eight bytes (each a bijection of the state), closed by the finaliser of `MurmurHash3`.
/// Changing it needs a new [`crate::ALGORITHM_VERSION`].
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut state = (bytes.len() as u64).wrapping_mul(WORD);
    for word in words {
        state = step(state, u64::from_le_bytes(*word));
    }
    finish(step(state, tail(rest)))
}

/// Reads up to seven bytes as a little-endian number, without a loop.
fn tail(rest: &[u8]) -> u64 {
    if let (Some(front), Some(back)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        let back = u64::from(u32::from_le_bytes(*back));
        return u64::from(u32::from_le_bytes(*front)) | (back << ((rest.len() - 4) * 8));
    }
    match *rest {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        _ => 0,
    }
}

fn step(state: u64, word: u64) -> u64 {
    (state.rotate_left(23) ^ word).wrapping_mul(WORD)
}

/// Spreads every bit of the input over the whole word; a bijection.
pub(crate) fn finish(mut state: u64) -> u64 {
    state ^= state >> 33;
    state = state.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    state ^= state >> 33;
    state = state.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    state ^ (state >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persisted_hashes_stay_what_they_are() {
        let table: &[(&[u8], u64)] = &[
            (b"", 0),
            (b"a", 0x9D8F_3729_7821_87C5),
            (b"cargo", 0x668F_CE94_0F66_BFFC),
            (b"longer than a word", 0x355F_6BAE_FB1E_DE0F),
        ];
        for (bytes, hash) in table {
            assert_eq!(hash_bytes(bytes), *hash);
        }
    }

    #[test]
    fn length_and_every_byte_count() {
        let mut seen = Vec::new();
        for length in 0..40_usize {
            let zeros = vec![0_u8; length];
            seen.push(hash_bytes(&zeros));
            for at in 0..length {
                let mut one = zeros.clone();
                one[at] = 1;
                seen.push(hash_bytes(&one));
            }
        }
        let total = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), total);
    }
}
