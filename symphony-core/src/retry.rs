//! Retry policy: when a failed or unfinished run is retried (spec: orchestrator, "Failure").

use crate::Timestamp;

use crate::agent::AgentType;
use crate::backoff::Backoff;
use crate::closed_set::closed_set;
use crate::config::defaults::MAX_RETRY_BACKOFF_MS;
use crate::id::IssueId;

/// Delay before the first retry after a failure.
pub const BACKOFF_BASE_MS: u64 = 10_000;
/// The jitter of such a delay, in percent, either way.
const BACKOFF_JITTER_PERCENT: u8 = 10;
/// Default maximum of the delay.
pub const BACKOFF_MAX_MS: u64 = MAX_RETRY_BACKOFF_MS;
/// Delay before a continuation.
pub const CONTINUATION_MS: u64 = 1_000;
/// Longest hold of a provider that reports no reset time.
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
    /// The agent that worked last; the issue's phase label decides which agent works next.
    pub agent: AgentType,
    /// The reason.
    pub kind: RetryKind,
    /// The earliest time of the next attempt.
    pub due_at: Timestamp,
    /// The attempt that ended.
    pub attempt: u32,
    /// What happened, in a sentence.
    pub reason: String,
}

/// Returns the delay before the retry after failure number `failures` (from 1), in milliseconds:
/// `10 s × 2^(failures-1)` with ±10 % jitter derived from issue and number, at most `max_ms`, jitter included.
pub fn backoff_ms(issue: &IssueId, failures: u32, max_ms: u64) -> u64 {
    Backoff {
        first_ms: BACKOFF_BASE_MS,
        max_ms,
        jitter_percent: BACKOFF_JITTER_PERCENT,
    }
    .delay_ms(issue.as_str(), failures)
}

/// Returns the hold of a provider that reported no reset time, in milliseconds: `first_ms` doubled with each failed
/// probe, at most [`HOLD_MAX_MS`].
pub fn hold_ms(first_ms: u64, probes: u32) -> u64 {
    Backoff::steady(first_ms, HOLD_MAX_MS.max(first_ms)).delay_ms("", probes.saturating_add(1))
}

/// Longest hold that a provider can ask for: limits are reset weekly at the latest, a day's margin for the clock.
pub const HOLD_TOLD_MAX_MS: u64 = 8 * 24 * 60 * 60 * 1000;

/// Returns when a hold ends: at the reset time that was reported, else after [`hold_ms`].
///
/// A time in the past is ignored (a provider that repeats it would be called at every tick), and so is one that is
/// further away than any limit.
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

/// Returns whether a past event has a timestamp in the future: it was recorded before the clock was set back.
pub fn is_ahead_of_clock(recorded: Timestamp, now: Timestamp) -> bool {
    recorded > after(now, CLOCK_SLACK_MS)
}

/// Adds milliseconds to a time, saturating at the latest time.
pub fn after(now: Timestamp, ms: u64) -> Timestamp {
    now.saturating_add_ms(ms)
}

/// The appointment that the end of a run asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPlan {
    /// The reason.
    pub kind: RetryKind,
    /// The earliest time of the next attempt.
    pub due_at: Timestamp,
    /// What happened.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_that_failed_together_come_back_apart() {
        let delay = |issue| backoff_ms(&IssueId::parse(issue).unwrap(), 3, BACKOFF_MAX_MS);
        assert_ne!(delay("SYM-1"), delay("SYM-2"));
        assert!((36_000..=44_000).contains(&delay("SYM-1")));
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
