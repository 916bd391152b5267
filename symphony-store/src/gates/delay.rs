//! Gates that could not run are tried again, at growing distances.

use rusqlite::{Transaction, params};
use symphony_core::id::PrId;
use symphony_core::log::LogEvent;
use symphony_core::pull_request::PullRequest;
use symphony_core::retry::{after, hold_ms};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::error::StoreError;

/// First wait after gates could not be run for no fault of the change; it doubles with each try in a row.
pub(crate) const FIRST_DELAY_MS: u64 = 10_000;

/// Tries in a row after which gates that cannot be run are a person's affair.
pub(crate) const GATE_TRIES_MIN: u32 = 3;

/// Puts the next try off; the wait grows with each try in a row.
pub(crate) fn delay(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    problem: &str,
) -> Result<(), StoreError> {
    let wait = hold_ms(FIRST_DELAY_MS, pr.gates_wait.tries);
    let until = after(context.now, wait);
    tx.execute(
        "UPDATE pull_request SET gates_due_at = ?2, gates_tries = gates_tries + 1, gates_problem = ?3 WHERE id = ?1",
        params![pr.id.get(), until.as_millisecond(), problem],
    )?;
    let delayed = LogEvent::GatesDelayed {
        pr: pr.id,
        until,
        problem: problem.to_owned(),
    };
    append(tx, context, About::of(&pr.of), &delayed)
}

pub(crate) fn forget_delay(tx: &Transaction<'_>, pr: PrId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE pull_request SET gates_due_at = 0, gates_tries = 0, gates_problem = NULL, gates_fresh = 0 WHERE id = ?1",
        [pr.get()],
    )?;
    Ok(())
}
