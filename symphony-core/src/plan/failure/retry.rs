//! When a failed phase is tried again.

use serde::{Deserialize, Serialize};

use crate::backoff::Backoff;

/// How often and how soon a phase is retried. In the state file: `{"maxRetries", "initialDelayMs", "maxDelayMs",
/// "jitterPercent"}`.
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
pub fn retry_delay_ms(policy: &RetryPolicy, plan: &str, phase: &str, retry: u32) -> u64 {
    Backoff {
        first_ms: policy.initial_delay_ms,
        max_ms: policy.max_delay_ms,
        jitter_percent: policy.jitter_percent,
    }
    .delay_ms(&format!("{plan}\n{phase}"), retry)
}
