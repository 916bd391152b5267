//! The event log: what happened, in order.

use rusqlite::{Connection, Row, Transaction, params};
use serde::Serialize;
use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::{IssueEvent, IssueState, apply};

use crate::context::Context;
use crate::error::StoreError;
use crate::open::Store;
use crate::row::{json as from_json, parsed_opt, time, to_json};

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRecord {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// The issue.
    pub issue: Option<IssueId>,
    /// The run in whose name it was written.
    pub run: Option<RunId>,
    /// Who.
    pub actor: String,
    /// What, such as `issue_moved`.
    pub kind: String,
    /// Details.
    pub payload: Value,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    pub(crate) project: Option<&'a ProjectId>,
    pub(crate) issue: Option<&'a IssueId>,
    pub(crate) run: Option<&'a RunId>,
}

impl<'a> About<'a> {
    pub(crate) const fn issue(issue: &'a IssueId) -> Self {
        Self {
            project: None,
            issue: Some(issue),
            run: None,
        }
    }
}

/// Appends an entry.
pub(crate) fn append(
    tx: &Transaction<'_>,
    context: &Context,
    about: About<'_>,
    kind: &str,
    payload: &Value,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO event (at, project, issue, run, actor, kind, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        context.now.as_millisecond(),
        about.project.map(ProjectId::as_str),
        about.issue.map(IssueId::as_str),
        about.run.or(context.actor.run()).map(RunId::as_str),
        context.actor.author().name(),
        kind,
        to_json(payload),
    ])?;
    Ok(())
}

/// The payload of a change of status: enough to do it again.
pub(crate) fn moved_payload(event: &IssueEvent, from: &IssueState, to: &IssueState) -> Value {
    json!({ "event": event, "from": from.status(), "to": to.status() })
}

/// Replays an issue's log and returns the state it leads to.
///
/// # Errors
/// When the log holds a transition that is not in the table, or does not begin with the issue's making.
pub fn fold_issue(events: &[EventRecord]) -> Result<IssueState, StoreError> {
    let mut state: Option<IssueState> = None;
    for event in events {
        match event.kind.as_str() {
            "issue_added" => state = Some(from_value("state", &event.payload, "state")?),
            "issue_moved" => {
                let step: IssueEvent = from_value("event", &event.payload, "event")?;
                let before = state
                    .take()
                    .ok_or_else(|| invalid("event log", "a move before issue_added"))?;
                let after = apply(&before, &step)
                    .map_err(|error| invalid("event log", &error.to_string()))?;
                state = Some(after);
            }
            _ => {}
        }
    }
    state.ok_or_else(|| invalid("event log", "no issue_added"))
}

fn invalid(what: &'static str, found: &str) -> StoreError {
    StoreError::InvalidRow {
        what,
        found: found.to_owned(),
    }
}

fn from_value<T: serde::de::DeserializeOwned>(
    what: &'static str,
    payload: &Value,
    key: &str,
) -> Result<T, StoreError> {
    let value = payload.get(key).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|_shape| invalid(what, &payload.to_string()))
}

/// Reads an entry of the log.
pub(crate) fn read_event(row: &Row<'_>) -> Result<EventRecord, StoreError> {
    Ok(EventRecord {
        id: row.get("id")?,
        at: time(row.get("at")?)?,
        issue: parsed_opt("issue", row.get("issue")?)?,
        run: parsed_opt("run", row.get("run")?)?,
        actor: row.get("actor")?,
        kind: row.get("kind")?,
        payload: from_json("event payload", &row.get::<_, String>("payload")?)?,
    })
}

/// Reads an issue's log, oldest first.
pub(crate) fn load_events(
    conn: &Connection,
    issue: &IssueId,
) -> Result<Vec<EventRecord>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, at, issue, run, actor, kind, payload FROM event WHERE issue = ?1 ORDER BY id",
    )?;
    let mut rows = statement.query([issue.as_str()])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(read_event(row)?);
    }
    Ok(events)
}

impl Store {
    /// Returns an issue's log, oldest first.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn events_of_issue(&self, issue: &IssueId) -> Result<Vec<EventRecord>, StoreError> {
        load_events(&self.conn, issue)
    }
}
