//! What a rejected proposal that nothing is left to do means for its issue.

use super::breaker::{Stop, open_breaker};
use super::nothing::effect_after;
use super::{Routing, RunEnd, breaker_opens};
use crate::Timestamp;
use crate::hand_in::NothingEffect;
use crate::retry::{RetryKind, RetryPlan, after, backoff_ms};

/// A rejected proposal that nothing is left to do counts like a run without a result: its worker gets the points, the
/// second one in a row waits, and after the third a person looks.
pub(super) fn route_rejected_proposal(
    routing: &mut Routing,
    end: &RunEnd<'_>,
    before: u32,
    now: Timestamp,
) {
    let count = before.saturating_add(1);
    let why =
        format!("{count} proposals in a row that nothing is left to do were rejected or dropped");
    let is_spent = breaker_opens(routing.counts, end.limits.max_retries);
    match effect_after(end, before) {
        NothingEffect::Continues if !is_spent => {}
        NothingEffect::Fails if !is_spent => {
            let failures = end.issue.counts.consecutive_failures.saturating_add(1);
            routing.counts.consecutive_failures = failures;
            let delay = backoff_ms(&end.issue.id, failures, end.limits.max_backoff_ms);
            routing.retry = Some(RetryPlan {
                kind: RetryKind::Backoff,
                due_at: after(now, delay),
                reason: why,
            });
        }
        _ => open_breaker(routing, end, Some(Stop { why, advice: None })),
    }
}
