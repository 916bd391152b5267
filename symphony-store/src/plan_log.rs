//! The log of a plan, and the plan that it tells.

use rusqlite::{Transaction, params};
use serde_json::Value;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::state::{PlanEvent, PlanState, apply};

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{EventRecord, read_event};
use crate::open::Store;
use crate::row::to_json;

/// Appends an entry about a plan.
pub(crate) fn append_plan(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    kind: &str,
    payload: &Value,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO event (at, project, plan, run, actor, kind, payload)
         VALUES (?1, (SELECT project FROM plan WHERE id = ?2), ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        context.now.as_millisecond(),
        plan.as_str(),
        context.actor.run().map(symphony_core::id::RunId::as_str),
        context.actor.author().name(),
        kind,
        to_json(payload),
    ])?;
    Ok(())
}

/// Replays a plan's log and returns the state it leads to.
///
/// # Errors
/// When the log holds an event that does not fit, or does not begin with the plan's making.
pub fn fold_plan(events: &[EventRecord]) -> Result<PlanState, StoreError> {
    let mut state: Option<PlanState> = None;
    for entry in events {
        match (entry.kind.as_str(), state.as_mut()) {
            ("plan_created", _) => {
                let ids = entry.payload.get("phases").cloned().unwrap_or_default();
                let ids: Vec<PlanPhaseId> =
                    serde_json::from_value(ids).map_err(|error| invalid(&error))?;
                state = Some(PlanState::new(&ids, entry.at));
            }
            ("plan_event", Some(state)) => {
                let event: PlanEvent = serde_json::from_value(entry.payload.clone())
                    .map_err(|error| invalid(&error))?;
                apply(state, &event).map_err(|error| invalid(&error))?;
            }
            _ => {}
        }
    }
    state.ok_or_else(|| invalid(&"no plan_created"))
}

fn invalid(found: &dyn std::fmt::Display) -> StoreError {
    StoreError::InvalidRow {
        what: "event log of a plan",
        found: found.to_string(),
    }
}

impl Store {
    /// Returns a plan's log, oldest first.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn events_of_plan(&self, plan: &PlanId) -> Result<Vec<EventRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, at, issue, run, actor, kind, payload FROM event WHERE plan = ?1 ORDER BY id",
        )?;
        let mut rows = statement.query([plan.as_str()])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push(read_event(row)?);
        }
        Ok(events)
    }
}
