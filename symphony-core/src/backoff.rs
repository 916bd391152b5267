//! Exponential backoff with jitter: how long each retry waits, for issues, phases of plans, providers on hold and exit
//! handling alike.

/// Number of doublings after which a delay no longer grows: more would overflow, and every cap in use is reached long
/// before.
const DOUBLINGS_MAX: u32 = 32;
/// Jitter is drawn in ten-thousandths of the delay.
const WHOLE: u64 = 10_000;

/// How long retries wait: a first delay that doubles with each retry up to a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Delay before the first retry, in milliseconds.
    pub first_ms: u64,
    /// Longest delay, jitter included, in milliseconds.
    pub max_ms: u64,
    /// How far a delay may stray, in percent of it, either way; at most 100.
    pub jitter_percent: u8,
}

impl Backoff {
    /// Returns a backoff without jitter.
    pub const fn steady(first_ms: u64, max_ms: u64) -> Self {
        Self {
            first_ms,
            max_ms,
            jitter_percent: 0,
        }
    }

    /// Returns the delay before retry number `retry` (from 1), in milliseconds.
    ///
    /// The jitter comes from `key` and the number: what failed together does not come back together, and the same input
    /// always gives the same delay, so that a decision can be repeated.
    pub fn delay_ms(&self, key: &str, retry: u32) -> u64 {
        let doublings = retry.saturating_sub(1).min(DOUBLINGS_MAX);
        let delay = self
            .first_ms
            .saturating_mul(1 << doublings)
            .min(self.max_ms);
        let spread = u64::from(self.jitter_percent.min(100)) * (WHOLE / 100);
        let factor = WHOLE - spread + mix(key, u64::from(retry)) % (2 * spread + 1);
        let jittered = u128::from(delay) * u128::from(factor) / u128::from(WHOLE);
        u64::try_from(jittered).unwrap_or(u64::MAX).min(self.max_ms)
    }
}

/// Mixes a text and a number to 64 bits (FNV-1a, finished by splitmix64): jitter without a source of randomness.
fn mix(text: &str, number: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes().chain(number.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn delays_double_within_jitter_and_cap() {
        for (first, max, jitter) in [
            (5_000, 60_000, 20),
            (10_000, 300_000, 10),
            (200, 900_000, 0),
        ] {
            let backoff = Backoff {
                first_ms: first,
                max_ms: max,
                jitter_percent: jitter,
            };
            for retry in (1..40).chain([u32::MAX]) {
                let plain = first.saturating_mul(1 << (retry - 1).min(32)).min(max);
                let stray = plain * u64::from(jitter) / 100;
                let delays: BTreeSet<u64> = (0..200)
                    .map(|n| backoff.delay_ms(&format!("plan\np{n}"), retry))
                    .collect();
                let range = plain - stray..=(plain + stray).min(max);
                assert!(
                    delays.iter().all(|d| range.contains(d)),
                    "{retry}: {delays:?}"
                );
                assert!(
                    jitter == 0 || delays.len() > 50,
                    "{retry}: {}",
                    delays.len()
                );
                assert_eq!(backoff.delay_ms("a", retry), backoff.delay_ms("a", retry));
            }
        }
    }

    #[test]
    fn odd_settings_do_not_overflow() {
        let odd = Backoff {
            first_ms: u64::MAX,
            max_ms: u64::MAX,
            jitter_percent: 255,
        };
        odd.delay_ms("", 3);
        assert_eq!(Backoff::steady(5_000, 0).delay_ms("a", 2), 0);
        assert_eq!(Backoff::steady(5_000, 60_000).delay_ms("a", 2), 10_000);
    }
}
