//! Gates that could not run are tried again, with growing delays.

use symphony_core::id::PrId;
use symphony_core::log::LogEvent;
use symphony_core::pull_request::PullRequest;
use symphony_core::retry::{after, hold_ms};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::{Transaction, params};
use crate::error::StoreError;

/// The first wait when gates could not run through no fault of the change. It doubles with each try in a row.
pub(crate) const FIRST_DELAY_MS: u64 = 10_000;

/// The number of tries in a row after which a person has to look at gates that cannot run.
pub(crate) const GATE_TRIES_MIN: u32 = 3;

/// Puts off the next try. The wait grows with each try in a row.
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
