//! Refused calls of `create_pr`: kept with their run, so that runs that end alike are seen.

use rusqlite::{Connection, params};
use serde_json::Value;
use symphony_core::failure::ErrorClass;
use symphony_core::hand_in::{REFUSED_STOPS, RefusedHandIn};
use symphony_core::run::{Run, RunStatus};

use crate::context::{Actor, Context};
use crate::error::StoreError;
use crate::open::Store;
use crate::row::{json, to_json};

/// The detail of a run's metadata that holds its last refused `create_pr`.
const REFUSED_HAND_IN: &str = "refused_create_pr";
/// Runs that are looked at: those that used no attempt say nothing, and are passed over.
const RUNS_MAX: u32 = 50;

impl Store {
    /// Keeps with a live run that its `create_pr` was refused. A call by a person is not kept.
    ///
    /// # Errors
    /// When the run is over.
    pub fn record_refused_hand_in(
        &mut self,
        context: &Context,
        refused: &RefusedHandIn,
    ) -> Result<(), StoreError> {
        let Actor::Run(key) = &context.actor else {
            return Ok(());
        };
        let run = key.run.clone();
        self.write(context, |tx| {
            tx.prepare_cached(
                "UPDATE run SET metadata = json_set(metadata, '$.' || ?2, json(?3)) WHERE id = ?1",
            )?
            .execute(params![run.as_str(), REFUSED_HAND_IN, to_json(refused)])?;
            Ok(())
        })
    }
}

/// Returns the last refusal of a run, and how many runs on its issue before it ended with one like it, in a row.
pub(crate) fn refused_in_a_row(
    conn: &Connection,
    run: &Run,
) -> Result<Option<(RefusedHandIn, u32)>, StoreError> {
    let (Some(refused), Some(issue)) = (refused_hand_in(&run.metadata), run.target.issue()) else {
        return Ok(None);
    };
    let mut statement = conn.prepare_cached(
        "SELECT status, error_class, metadata FROM run WHERE issue = ?1 AND agent <> 'gates' AND ended_at IS NOT NULL AND id <> ?2
         ORDER BY fence DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![issue.as_str(), run.id.as_str(), RUNS_MAX])?;
    let mut count = 0;
    while let Some(row) = rows.next()?
        && count < REFUSED_STOPS
    {
        let metadata: Value = json("run metadata", &row.get::<_, String>("metadata")?)?;
        if refused_hand_in(&metadata).is_some_and(|before| before.is_like(&refused)) {
            count += 1;
            continue;
        }
        let class: Option<String> = row.get("error_class")?;
        let class = class.and_then(|class| ErrorClass::parse(&class).ok());
        let status: String = row.get("status")?;
        let said_nothing =
            class.is_some_and(ErrorClass::uses_no_attempt) || status == RunStatus::Cancelled.name();
        if !said_nothing {
            break;
        }
    }
    Ok(Some((refused, count)))
}

/// Forgets that a call of `create_pr` was refused: a later one of the same run opened the pull request.
pub(crate) fn forget_refused_hand_in(
    conn: &Connection,
    context: &Context,
) -> Result<(), StoreError> {
    if let Actor::Run(key) = &context.actor {
        conn.prepare_cached(
            "UPDATE run SET metadata = json_remove(metadata, '$.' || ?2) WHERE id = ?1",
        )?
        .execute(params![key.run.as_str(), REFUSED_HAND_IN])?;
    }
    Ok(())
}

/// Returns why the last `create_pr` of a run was refused, from the run's metadata; none when it opened a pull request, or was
/// not called.
pub fn refused_hand_in(metadata: &Value) -> Option<RefusedHandIn> {
    let found = metadata.get(REFUSED_HAND_IN)?;
    serde_json::from_value(found.clone()).ok()
}
