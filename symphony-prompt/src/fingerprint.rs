//! A fast, stable fingerprint of a text: to see which layer of two prompts differs. Not for security.

/// Odd 64-bit constants of the `SplitMix64` generator (Steele, Lea, Flood 2014).
const MULTIPLY: u64 = 0xbf58_476d_1ce4_e5b9;
const FINISH: u64 = 0x94d0_49bb_1331_11eb;
/// Independent lanes, so that the processor multiplies them side by side.
const LANES: usize = 4;
/// Bytes that are mixed at once.
const BLOCK_BYTES: usize = 8 * LANES;

/// Returns 16 hex digits. The same bytes give the same digits on every machine and in every version.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    fingerprint_of(std::iter::once(bytes))
}

/// Returns the fingerprint of pieces, as if they were joined.
pub(crate) fn fingerprint_of<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> String {
    let mut lanes = [1u64, 2, 3, 4];
    let (mut block, mut filled, mut length) = ([0u8; BLOCK_BYTES], 0, 0u64);
    for mut piece in pieces {
        length += piece.len() as u64;
        while !piece.is_empty() {
            if filled == 0 {
                // most of a text is read where it is: copying it into the block took longer than mixing it
                let (blocks, rest) = piece.as_chunks::<BLOCK_BYTES>();
                for block in blocks {
                    mix(&mut lanes, block);
                }
                piece = rest;
            }
            let room = block.get_mut(filled..).unwrap_or_default();
            let taken = room.len().min(piece.len());
            let (begin, rest) = piece.split_at(taken);
            for (place, byte) in room.iter_mut().zip(begin) {
                *place = *byte;
            }
            (piece, filled) = (rest, filled + taken);
            if filled == BLOCK_BYTES {
                mix(&mut lanes, &block);
                filled = 0;
            }
        }
    }
    block.iter_mut().skip(filled).for_each(|place| *place = 0);
    mix(&mut lanes, &block);
    let joined = lanes
        .iter()
        .fold(length, |hash, lane| scramble(hash ^ *lane));
    let digits = (0..16u32).rev().map(|place| {
        let digit = u32::try_from(joined >> (4 * place) & 0xf).unwrap_or(0);
        char::from_digit(digit, 16).unwrap_or('0')
    });
    let mut out = String::with_capacity(16);
    out.extend(digits);
    out
}

fn mix(lanes: &mut [u64; LANES], block: &[u8; BLOCK_BYTES]) {
    for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)) {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        *lane = (*lane ^ word).wrapping_mul(MULTIPLY).rotate_left(29);
    }
}

const fn scramble(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(MULTIPLY);
    let value = (value ^ (value >> 27)).wrapping_mul(FINISH);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_stable_and_differ() {
        assert_eq!(fingerprint(b""), fingerprint(b""));
        let mut seen = std::collections::BTreeSet::new();
        let text: Vec<u8> = (0..200u8).collect();
        for length in 0..text.len() {
            let whole = fingerprint(&text[..length]);
            let pieces = text[..length].chunks(7);
            assert_eq!(fingerprint_of(pieces), whole, "{length}");
            assert!(seen.insert(whole), "{length}");
        }
        assert!(seen.insert(fingerprint(&[0; 200])));
        assert!(seen.insert(fingerprint(&[0; 201])));
    }
}
