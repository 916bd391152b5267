//! The event log: everything that happened, in order.

use serde::Serialize;
use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId, ProjectId, RunId};
use symphony_core::issue::IssueState;
use symphony_core::log::{LogEvent, fold_issue as fold};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::user::Attribution;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{attribution, json as from_json, parsed_opt, time, to_json};
use crate::db::{Connection, Row, Transaction, params};
use crate::error::StoreError;

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRecord {
    /// Its number.
    pub id: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The project that it is about; `None` for an entry about an issue, whose project is known.
    pub project: Option<ProjectId>,
    /// The issue that it is about.
    pub issue: Option<IssueId>,
    /// The run that it is about, or in whose name it was written.
    pub run: Option<RunId>,
    /// The plan that it is about.
    pub plan: Option<PlanId>,
    /// Who wrote it: `human`, `system` or an agent's type.
    pub actor: String,
    /// Why Symphony could not tell that a person wrote it; `None` when it could, and for all others.
    pub unverified: Option<String>,
    /// With what it was written, and as which user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// Its stored kind, such as `issue_moved`.
    pub kind: String,
    /// Its stored details, including fields that a newer version added.
    pub payload: Value,
}

impl EventRecord {
    /// Returns what happened as a type.
    pub fn event(&self) -> LogEvent {
        LogEvent::read(&self.kind, &self.payload)
    }
}

/// The subject of an entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    pub(crate) project: Option<&'a ProjectId>,
    pub(crate) issue: Option<&'a IssueId>,
    pub(crate) plan: Option<&'a PlanId>,
    pub(crate) run: Option<&'a RunId>,
}

impl<'a> About<'a> {
    pub(crate) const fn issue(issue: &'a IssueId) -> Self {
        Self {
            project: None,
            issue: Some(issue),
            plan: None,
            run: None,
        }
    }

    /// Returns the subject of an entry about an issue or a plan of a project, or about the project.
    pub(crate) fn of_or_project(of: Option<&'a PullRequestOf>, project: &'a ProjectId) -> Self {
        of.map_or_else(
            || Self {
                project: Some(project),
                ..Self::default()
            },
            Self::of,
        )
    }

    /// Returns the subject of an entry about a pull request.
    pub(crate) const fn of(of: &'a PullRequestOf) -> Self {
        Self {
            project: None,
            issue: of.issue(),
            plan: of.plan(),
            run: None,
        }
    }
}

/// Appends an entry.
pub(crate) fn append(
    tx: &Transaction<'_>,
    context: &Context,
    about: About<'_>,
    event: &LogEvent,
) -> Result<(), StoreError> {
    let (source, user) = context.actor.attributed();
    tx.prepare_cached(
        "INSERT INTO event (at, project, issue, plan, run, actor, kind, payload, unverified, source, user)
         VALUES (?1, coalesce(?2, (SELECT project FROM plan WHERE id = ?4)), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        context.now.as_millisecond(),
        about.project.map(ProjectId::as_str),
        about.issue.map(IssueId::as_str),
        about.plan.map(PlanId::as_str),
        about.run.or(context.actor.run()).map(RunId::as_str),
        context.actor.author().name(),
        event.kind(),
        to_json(&event.payload()),
        context.actor.unverified(),
        source,
        user,
    ])?;
    Ok(())
}

/// Replays an issue's log, and returns the state that it leads to.
///
/// # Errors
/// When the log contains a transition that is not in the table, or does not start with the creation of the issue.
pub fn fold_issue(events: &[EventRecord]) -> Result<IssueState, StoreError> {
    let log: Vec<_> = events.iter().map(EventRecord::event).collect();
    fold(&log).map_err(|error| StoreError::InvalidRow {
        what: "event log",
        found: error.to_string(),
    })
}

/// The columns for [`read_event`].
pub(crate) const EVENT_COLUMNS: &str =
    "id, at, project, issue, run, plan, actor, unverified, source, user, kind, payload";

/// Parses an entry of the log.
pub(crate) fn read_event(row: &Row<'_>) -> Result<EventRecord, StoreError> {
    Ok(EventRecord {
        id: row.get("id")?,
        at: time(row.get("at")?)?,
        project: parsed_opt("project", row.get("project")?)?,
        issue: parsed_opt("issue", row.get("issue")?)?,
        run: parsed_opt("run", row.get("run")?)?,
        plan: parsed_opt("plan", row.get("plan")?)?,
        actor: row.get("actor")?,
        unverified: row.get("unverified")?,
        attribution: attribution(row)?,
        kind: row.get("kind")?,
        payload: from_json("event payload", &row.get::<_, String>("payload")?)?,
    })
}

/// Reads an issue's log, oldest first.
pub(crate) fn load_events(
    conn: &Connection,
    issue: &IssueId,
) -> Result<Vec<EventRecord>, StoreError> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS} FROM event WHERE issue = ?1 ORDER BY id"
    ))?;
    let mut rows = statement.query([issue.as_str()])?;
    let mut events = Vec::new();
    while let Some(row) = &rows.next()? {
        events.push(read_event(row)?);
    }
    Ok(events)
}

impl Store {
    /// Returns an issue's log, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_of_issue(&self, issue: &IssueId) -> Result<Vec<EventRecord>, StoreError> {
        load_events(&self.conn, issue)
    }
}
