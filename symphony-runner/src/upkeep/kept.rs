//! How long what ended is kept (spec: config, `log_retention_days`).

use symphony_core::Timestamp;
use symphony_core::retry::after;

/// Milliseconds per day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Returns whether something that ended is no longer kept: it ended at least `days` days ago.
pub(crate) fn is_old(ended: Timestamp, days: u32, now: Timestamp) -> bool {
    after(ended, u64::from(days).saturating_mul(DAY_MS)) <= now
}

/// Returns the time since which what ended is kept, for a query.
pub(crate) fn kept_since(days: u32, now: Timestamp) -> Timestamp {
    let keep_ms = i64::from(days).saturating_mul(DAY_MS.cast_signed());
    let since = now.as_millisecond().saturating_sub(keep_ms);
    Timestamp::from_millisecond(since).unwrap_or(Timestamp::UNIX_EPOCH)
}
