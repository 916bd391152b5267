//! When a ticket's next run begins (section 8.4).

use std::time::Duration;

use symphony_core::Timestamp;

use super::dispatch::{no_slot, unfit};
use super::rules::Rules;
use super::state::{Retry, Room, Running, State};
use crate::ticket::Ticket;

/// Wait after a run that ended well: the ticket is looked at again soon, since it may still be open.
pub const CONTINUATION_DELAY: Duration = Duration::from_secs(1);
/// Wait after the first failure; it doubles with each further one.
pub const FIRST_BACKOFF: Duration = Duration::from_secs(10);
/// The error of a retry for which there is no room.
pub const NO_SLOTS: &str = "no available orchestrator slots";
/// The error of a retry whose ticket could not be looked up.
pub const POLL_FAILED: &str = "retry poll failed";

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// Its turns are over, and nothing failed.
    Normal,
    /// It failed, was too slow, or was silent for too long.
    Failed {
        /// Why, in a few words.
        error: String,
    },
}

/// What the tracker says when a retry is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// The ticket is among those that are worked on.
    Ticket(&'a Ticket),
    /// It is not.
    Absent,
    /// The tracker could not be asked.
    Unknown,
}

/// What becomes due with a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryStep {
    /// A run begins.
    Start {
        /// Which attempt it is.
        attempt: u32,
    },
    /// It is tried later.
    Later(Retry),
    /// The ticket is given up, and looked at like any other from then on.
    Release,
}

/// Returns the next attempt after a run, which replaces any that the ticket has.
pub fn after_exit(run: &Running, exit: &Exit, now: Timestamp, rules: &Rules) -> Retry {
    let (attempt, wait, error) = match exit {
        Exit::Normal => (1, CONTINUATION_DELAY, None),
        Exit::Failed { error } => {
            let attempt = run.attempt.unwrap_or(0).saturating_add(1);
            (
                attempt,
                backoff(attempt, rules.retry_backoff_max),
                Some(error.clone()),
            )
        }
    };
    Retry {
        identifier: run.ticket.identifier.clone(),
        attempt,
        due: later(now, wait),
        error,
    }
}

/// Returns the wait before an attempt, counted from 1, that follows a failure: it doubles, up to a limit.
pub fn backoff(attempt: u32, max: Duration) -> Duration {
    let factor = 1_u32
        .checked_shl(attempt.saturating_sub(1))
        .unwrap_or(u32::MAX);
    FIRST_BACKOFF.saturating_mul(factor.max(1)).min(max)
}

/// Decides about a retry that is due. The ticket counts as its own: the claim that the retry holds does not keep it.
pub fn plan_retry(
    retry: &Retry,
    found: Found<'_>,
    state: &State,
    now: Timestamp,
    rules: &Rules,
) -> RetryStep {
    let later_with = |error: &str| {
        let attempt = retry.attempt.saturating_add(1);
        RetryStep::Later(Retry {
            identifier: retry.identifier.clone(),
            attempt,
            due: later(now, backoff(attempt, rules.retry_backoff_max)),
            error: Some(error.to_owned()),
        })
    };
    let ticket = match found {
        Found::Unknown => return later_with(POLL_FAILED),
        Found::Absent => return RetryStep::Release,
        Found::Ticket(ticket) => ticket,
    };
    let room = Room::of(state);
    // a run that began meanwhile has the ticket
    if unfit(ticket, rules).is_some() || room.taken.contains(&ticket.id) {
        return RetryStep::Release;
    }
    match no_slot(ticket, &room, rules) {
        Some(_) => later_with(NO_SLOTS),
        None => RetryStep::Start {
            attempt: retry.attempt,
        },
    }
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.saturating_add_ms(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}
