//! The log of a plan, and the state that it leads to.

use symphony_core::id::PlanId;
use symphony_core::log::{LogEvent, fold_plan as fold};
use symphony_core::plan::state::PlanState;

use crate::database::context::Context;
use crate::database::event::{EVENT_COLUMNS, EventRecord, read_event};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;

/// Appends an entry about a plan.
pub(crate) fn append_plan(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    event: &LogEvent,
) -> Result<(), StoreError> {
    let (source, user) = context.actor.attributed();
    tx.prepare_cached(
        "INSERT INTO event (at, project, plan, run, actor, kind, payload, unverified, source, user)
         VALUES (?1, (SELECT project FROM plan WHERE id = ?2), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        context.now.as_millisecond(),
        plan.as_str(),
        context.actor.run().map(symphony_core::id::RunId::as_str),
        context.actor.author().name(),
        event.kind(),
        to_json(&event.payload()),
        context.actor.unverified(),
        source,
        user,
    ])?;
    Ok(())
}

/// Replays a plan's log and returns the state that it leads to.
///
/// # Errors
/// When the log contains an event that does not fit, or does not begin with the creation of the plan.
pub fn fold_plan(events: &[EventRecord]) -> Result<PlanState, StoreError> {
    let log: Vec<_> = events
        .iter()
        .map(|entry| (entry.at, entry.event()))
        .collect();
    fold(log.iter().map(|(at, event)| (*at, event))).map_err(|error| StoreError::InvalidRow {
        what: "event log of a plan",
        found: error.to_string(),
    })
}

impl Store {
    /// Returns a plan's log, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_of_plan(&self, plan: &PlanId) -> Result<Vec<EventRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT {EVENT_COLUMNS} FROM event WHERE plan = ?1 ORDER BY id"
        ))?;
        let mut rows = statement.query([plan.as_str()])?;
        let mut events = Vec::new();
        while let Some(row) = &rows.next()? {
            events.push(read_event(row)?);
        }
        Ok(events)
    }
}
