//! When a failed phase is tried again.

use serde::{Deserialize, Serialize};

use crate::retry::mix;

/// How often and how soon a phase is tried again. In the state file: `{"maxRetries", "initialDelayMs",
/// "maxDelayMs", "jitterPercent"}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// Most retries; attempts are one more.
    pub max_retries: u32,
    /// Delay before the first retry, in milliseconds; it doubles with each.
    pub initial_delay_ms: u64,
    /// Longest delay, jitter included, in milliseconds.
    pub max_delay_ms: u64,
    /// How far a delay may stray, in percent of it, either way.
    pub jitter_percent: u8,
}

impl Default for RetryPolicy {
    /// Two retries, 5 s doubling, ±20 %, at most 60 s.
    fn default() -> Self {
        Self {
            max_retries: 2,
            initial_delay_ms: 5_000,
            max_delay_ms: 60_000,
            jitter_percent: 20,
        }
    }
}

/// Returns the delay before retry number `retry` (from 1) of a phase, in milliseconds.
///
/// The jitter comes from plan, phase and number: phases that failed together do not come back together, and the same
/// input always gives the same delay.
pub fn retry_delay_ms(policy: &RetryPolicy, plan: &str, phase: &str, retry: u32) -> u64 {
    /// Jitter is drawn in ten-thousandths.
    const WHOLE: u128 = 10_000;
    let doublings = retry.saturating_sub(1).min(32);
    let delay = policy
        .initial_delay_ms
        .saturating_mul(1 << doublings)
        .min(policy.max_delay_ms);
    let spread = u128::from(policy.jitter_percent.min(100)) * 100;
    let seed = mix(&format!("{plan}\n{phase}"), u64::from(retry));
    let factor = WHOLE - spread + u128::from(seed) % (2 * spread + 1);
    let jittered = u128::from(delay) * factor / WHOLE;
    u64::try_from(jittered)
        .unwrap_or(u64::MAX)
        .min(policy.max_delay_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_within_jitter_and_cap() {
        let policy = RetryPolicy::default();
        for (retry, plain) in [(1, 5_000), (2, 10_000), (3, 20_000), (4, 40_000)] {
            let delays: Vec<u64> = (0..200)
                .map(|n| retry_delay_ms(&policy, "plan", &format!("p{n}"), retry))
                .collect();
            let (low, high) = (plain * 8 / 10, (plain * 12 / 10).min(60_000));
            assert!(delays.iter().all(|d| (low..=high).contains(d)), "{retry}");
            let distinct: std::collections::BTreeSet<_> = delays.iter().collect();
            assert!(distinct.len() > 100, "{retry}: {} delays", distinct.len());
        }
        for retry in [5, 6, 33, 34, u32::MAX] {
            let delay = retry_delay_ms(&policy, "plan", "a", retry);
            assert!((48_000..=60_000).contains(&delay), "{retry}: {delay}");
        }
    }

    #[test]
    fn odd_policies_do_not_overflow() {
        let policy = RetryPolicy {
            max_retries: 0,
            initial_delay_ms: u64::MAX,
            max_delay_ms: u64::MAX,
            jitter_percent: 255,
        };
        retry_delay_ms(&policy, "", "", 3);
        let none = RetryPolicy {
            jitter_percent: 0,
            ..RetryPolicy::default()
        };
        assert_eq!(retry_delay_ms(&none, "p", "a", 2), 10_000);
    }
}
