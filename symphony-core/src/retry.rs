//! Retry policy: when a failed or unfinished run is tried again (spec: orchestrator, "Failure").

use crate::Timestamp;

use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::id::IssueId;

/// Delay before the first retry after a failure.
pub const BACKOFF_BASE_MS: u64 = 10_000;
/// Longest delay when the configuration names none.
pub const BACKOFF_MAX_MS: u64 = 300_000;
/// Delay before a continuation.
pub const CONTINUATION_MS: u64 = 1_000;
/// Longest hold of a provider that tells no reset time.
pub const HOLD_MAX_MS: u64 = 15 * 60 * 1000;

closed_set!(
    /// Why an issue is dispatched again.
    RetryKind, "retry kind", {
        /// The run ended well, the work did not.
        Continuation = "continuation",
        /// The run failed.
        Backoff = "backoff",
    }
);

/// A durable appointment to dispatch an issue again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// The issue.
    pub issue: IssueId,
    /// Who was at work; the phase label decides anew who will be.
    pub agent: AgentType,
    /// Why.
    pub kind: RetryKind,
    /// Not before.
    pub due_at: Timestamp,
    /// The attempt that ended.
    pub attempt: u32,
    /// What happened, in a sentence.
    pub reason: String,
}

/// Mixes issue and attempt to 64 bits (FNV-1a, finished by splitmix64): jitter without a source of randomness.
pub(crate) fn mix(text: &str, number: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes().chain(number.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Returns the delay before the retry after failure number `failures` (from 1), in milliseconds:
/// `10 s × 2^(failures-1)` with ±10 % jitter derived from issue and number, at most `max_ms`, jitter included.
pub fn backoff_ms(issue: &IssueId, failures: u32, max_ms: u64) -> u64 {
    let doublings = failures.saturating_sub(1).min(32);
    let delay = BACKOFF_BASE_MS.saturating_mul(1 << doublings).min(max_ms);
    // 0..=2000 hundredths of a percent, so that 1000 is "no jitter"
    let jitter = mix(issue.as_str(), u64::from(failures)) % 2001;
    (delay / 10_000)
        .saturating_mul(9_000 + jitter)
        .saturating_add(delay % 10_000)
        .min(max_ms)
}

/// Returns the hold of a provider that told no reset time, in milliseconds: `first_ms` doubled with each failed
/// probe, at most [`HOLD_MAX_MS`].
pub fn hold_ms(first_ms: u64, probes: u32) -> u64 {
    first_ms
        .saturating_mul(1 << probes.min(20))
        .min(HOLD_MAX_MS.max(first_ms))
}

/// Longest hold that a provider can ask for: limits are reset weekly at the latest, a day's margin for the clock.
pub const HOLD_TOLD_MAX_MS: u64 = 8 * 24 * 60 * 60 * 1000;

/// Returns when a hold ends: at the reset time that was told, else after [`hold_ms`].
///
/// A time that has passed tells nothing (a provider that repeats it would be asked at every tick), and one that is
/// further away than any limit is not believed.
pub fn hold_until(
    now: Timestamp,
    told: Option<Timestamp>,
    first_ms: u64,
    probes: u32,
) -> Timestamp {
    match told.filter(|told| *told > now) {
        Some(told) => told.min(after(now, HOLD_TOLD_MAX_MS)),
        None => after(now, hold_ms(first_ms, probes)),
    }
}

/// How far the recorded time of something that has happened may be ahead of a clock that was read a moment ago.
pub const CLOCK_SLACK_MS: u64 = 60_000;

/// Says whether something that has happened was recorded before the clock was set back.
pub fn is_ahead_of_clock(recorded: Timestamp, now: Timestamp) -> bool {
    recorded > after(now, CLOCK_SLACK_MS)
}

/// Adds milliseconds to a time; stays at the end of time instead of passing it.
pub fn after(now: Timestamp, ms: u64) -> Timestamp {
    now.saturating_add_ms(ms)
}

/// The appointment that the end of a run asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPlan {
    /// Why.
    pub kind: RetryKind,
    /// Not before.
    pub due_at: Timestamp,
    /// What happened.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_within_jitter_and_cap() {
        let issue = IssueId::parse("SYM-1").unwrap();
        for failures in 1..40 {
            let plain = (BACKOFF_BASE_MS << (failures - 1).min(20)).min(BACKOFF_MAX_MS);
            let delay = backoff_ms(&issue, failures, BACKOFF_MAX_MS);
            assert!(delay <= BACKOFF_MAX_MS, "{failures}: {delay}");
            assert!(
                delay * 10 >= plain * 9 && delay * 10 <= plain * 11,
                "{failures}: {delay} of {plain}"
            );
            assert_eq!(delay, backoff_ms(&issue, failures, BACKOFF_MAX_MS));
        }
        let other = IssueId::parse("SYM-2").unwrap();
        assert_ne!(
            backoff_ms(&issue, 3, BACKOFF_MAX_MS),
            backoff_ms(&other, 3, BACKOFF_MAX_MS)
        );
    }

    #[test]
    fn holds_grow_to_a_quarter_of_an_hour() {
        assert_eq!(hold_ms(60_000, 0), 60_000);
        assert_eq!(hold_ms(60_000, 2), 240_000);
        assert_eq!(hold_ms(60_000, 30), HOLD_MAX_MS);
    }

    #[test]
    fn a_hold_ends_when_it_was_told_unless_that_is_nonsense() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let week = 8 * 86_400;
        for (told, probes, expected) in [
            (None, 0, 160),
            (None, 1, 220),
            (None, 9, 1000),
            (Some(400), 0, 400),
            (Some(400), 9, 400),
            (Some(101), 3, 101),
            (Some(100), 0, 160),
            (Some(5), 1, 220),
            (Some(100 + week), 0, 100 + week),
            (Some(101 + week), 0, 100 + week),
        ] {
            let until = hold_until(at(100), told.map(at), 60_000, probes);
            assert_eq!(until, at(expected), "{told:?} {probes}");
        }
    }

    #[test]
    fn time_does_not_overflow() {
        assert_eq!(after(Timestamp::MAX, 5), Timestamp::MAX);
        assert_eq!(after(Timestamp::UNIX_EPOCH, 1500).as_millisecond(), 1500);
    }
}
