//! Unfinished exit handling: how the agent ended, and why the rest was postponed (spec: lifecycle, "Exit handling").

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::exit_handling::PutOff;
use symphony_core::id::RunId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{json, time, to_json};
use crate::db::{Connection, Row, Transaction, params};
use crate::error::StoreError;

/// The exit handling of a run that has not ended yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ExitHandling {
    /// How the agent ended, as its supervisor wrote it.
    pub outcome: Value,
    /// How many tries failed.
    pub tries: u32,
    /// When the next try is due; `None` until a try has failed.
    pub put_off: Option<PutOff>,
}

impl ExitHandling {
    /// Returns whether it waits for its time. Until then no process may work on it.
    pub fn waits(&self, now: Timestamp) -> bool {
        self.put_off
            .as_ref()
            .is_some_and(|put_off| !put_off.is_due(now))
    }
}

impl Store {
    /// Records how the agent of a live run ended, before anything is done with its work. The first record is kept.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn begin_exit(
        &mut self,
        context: &Context,
        run: &RunId,
        outcome: &Value,
    ) -> Result<(), StoreError> {
        let outcome = to_json(outcome);
        self.write(context, |tx| {
            // The first record wins. A supervisor that takes over after a crash did not see the agent end: its record
            // would turn a successful agent into a crashed run (`docs/design/0016`).
            tx.prepare_cached(
                "INSERT INTO exit_handling (run, outcome)
                 SELECT id, ?2 FROM run WHERE id = ?1 AND status IN ('starting', 'running')
                 ON CONFLICT (run) DO NOTHING",
            )?
            .execute(params![run.as_str(), outcome])?;
            Ok(())
        })
    }

    /// Puts off the exit handling of a run. The run stays live and holds no slot.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_exit_off(
        &mut self,
        context: &Context,
        run: &RunId,
        put_off: &PutOff,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let due_at = put_off.due_at.as_millisecond();
            tx.prepare_cached(
                "UPDATE exit_handling SET tries = ?2, due_at = ?3, problem = ?4 WHERE run = ?1",
            )?
            .execute(params![
                run.as_str(),
                put_off.tries,
                due_at,
                put_off.problem
            ])?;
            tx.prepare_cached(
                "UPDATE run SET last_event = ?2, last_event_at = ?3
                 WHERE id = ?1 AND status IN ('starting', 'running')",
            )?
            .execute(params![
                run.as_str(),
                format!("its work is not saved yet: {}", put_off.problem),
                context.now.as_millisecond()
            ])?;
            Ok(())
        })
    }

    /// Returns the unfinished exit handling of a run: `None` before its agent has ended, and after the run's end is
    /// recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn exit_handling(&self, run: &RunId) -> Result<Option<ExitHandling>, StoreError> {
        load(&self.conn, run)
    }
}

fn load(conn: &Connection, run: &RunId) -> Result<Option<ExitHandling>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT outcome, tries, due_at, problem FROM exit_handling WHERE run = ?1",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let outcome: String = row.get("outcome")?;
    Ok(Some(ExitHandling {
        outcome: json("the outcome of an agent", &outcome)?,
        tries: row.get("tries")?,
        put_off: put_off(&row)?,
    }))
}

/// Reads `tries`, `due_at` and `problem`, which are all NULL when a left join found no row.
pub(crate) fn put_off(row: &Row<'_>) -> Result<Option<PutOff>, StoreError> {
    let (Some(due_at), Some(problem)) = (row.get("due_at")?, row.get("problem")?) else {
        return Ok(None);
    };
    Ok(Some(PutOff {
        tries: row.get("tries")?,
        due_at: time(due_at)?,
        problem,
    }))
}

/// Deletes the exit handling of a run whose end is being recorded.
pub(crate) fn end_exit(tx: &Transaction<'_>, run: &RunId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM exit_handling WHERE run = ?1")?
        .execute([run.as_str()])?;
    Ok(())
}

/// Makes postponed exit handling due now, because a person wants the run to end.
pub(crate) fn hurry(tx: &Transaction<'_>, run: &RunId) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE exit_handling SET due_at = 0 WHERE run = ?1 AND due_at IS NOT NULL")?
        .execute([run.as_str()])?;
    Ok(())
}
