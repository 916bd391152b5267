//! The circuit breaker.

use super::routing::{Routing, reason_of};
use super::run_end::RunEnd;
use crate::issue::{AttemptCounts, BreakerTarget, IssueEvent};
use crate::wording::counted;

/// Returns whether the circuit breaker opens at these counts.
pub const fn breaker_opens(counts: AttemptCounts, max_retries: u32) -> bool {
    counts.consecutive_failures >= max_retries || counts.total_runs >= max_retries
}

/// Why an issue is stopped before its attempts are used up.
pub(super) struct Stop {
    /// The result of its runs.
    pub(super) why: String,
    /// What a person can change.
    pub(super) advice: Option<String>,
}

pub(super) fn open_breaker(routing: &mut Routing, end: &RunEnd<'_>, stop: Option<Stop>) {
    let tail: Vec<&str> = end
        .run
        .output_tail
        .lines()
        .rev()
        .take(BREAKER_TAIL_LINES_MAX)
        .collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    let is_spent = breaker_opens(routing.counts, end.limits.max_retries);
    // In `todo`, only used up attempts stop an issue's next run.
    let to = if stop.is_some() && !is_spent {
        BreakerTarget::Backlog
    } else {
        end.limits.breaker_target
    };
    let last = reason_of(routing, end);
    let mut comment = breaker_notice(routing.counts, end.limits.max_retries, &last);
    let reason = stop.map(|Stop { why, advice }| match advice {
        Some(advice) => format!("{why}. {advice}"),
        None => why,
    });
    if let Some(reason) = reason.as_ref().filter(|reason| !last.ends_with(*reason)) {
        comment.push_str("\n\nStopped early: ");
        comment.push_str(reason);
    }
    routing.event = Some(IssueEvent::BreakerOpened { to, reason });
    if !tail.is_empty() {
        comment.push_str("\n\nLast lines of output:\n\n");
        comment.push_str(&tail.join("\n"));
    }
    routing.comment = Some(comment);
}

/// Returns the notice of an open circuit breaker: how often it failed, and how the last time.
pub(crate) fn breaker_notice(counts: AttemptCounts, max_retries: u32, last: &str) -> String {
    format!(
        "Circuit breaker: {} in a row, {} since the last progress (limit {max_retries}). Last: {last}",
        counted(counts.consecutive_failures.into(), "failure"),
        counted(counts.total_runs.into(), "run"),
    )
}

/// Most lines of output that the breaker's comment quotes: enough to see the error, short enough to read.
pub const BREAKER_TAIL_LINES_MAX: usize = 20;
