//! How long a tracker asks to wait.

use symphony_core::Timestamp;

use super::answer::Answer;

/// Wait after a refusal that says it is a limit but not for how long, in milliseconds: GitHub asks for at least a minute.
pub(crate) const UNNAMED_WAIT_MS: u64 = 60_000;

/// Longest wait that a tracker can ask for, in milliseconds. GitHub's quota comes back every hour; a wrong clock or a hostile
/// answer could ask for years.
pub(crate) const WAIT_MS_MAX: u64 = 2 * 60 * 60 * 1000;

/// Returns the end of a wait that begins now, within [`WAIT_MS_MAX`].
pub(crate) fn bounded(until: Timestamp, now: Timestamp) -> Timestamp {
    until.clamp(now, now.saturating_add_ms(WAIT_MS_MAX))
}

/// Reads `retry-after`: a number of seconds. The other form, a date, is not used by the trackers.
pub(crate) fn retry_after(answer: &Answer, now: Timestamp) -> Option<Timestamp> {
    let seconds = u64::try_from(answer.number("retry-after")?).ok()?;
    Some(bounded(
        now.saturating_add_ms(seconds.saturating_mul(1000)),
        now,
    ))
}
