//! The state and an issue in the form of openai/symphony's SPEC §13.7, for programs that know it.

use std::time::Duration;

use axum::extract::Extension;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json as value};
use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_runner::paths::RunPaths;
use symphony_runner::session::Session;
use symphony_store::{EventFilter, RunFilter, StoreError};
use symphony_view::{EventView, HoldView, RetryView, RunningView, UsageView, read};

use super::answer::json;
use super::documents::status_of;
use super::query::issue_of;
use crate::asked::Asked;
use crate::server::{Failure, Refreshed, Turn};

/// Events of an issue that are shown.
const EVENTS: u32 = 20;

/// The state of the project.
#[derive(Debug, Serialize)]
struct State {
    generated_at: Timestamp,
    counts: Counts,
    running: Vec<Running>,
    retrying: Vec<Retrying>,
    codex_totals: Totals,
    /// No provider says how much is left of its limits.
    rate_limits: Option<Value>,
    /// What is on hold, as in `symphony status --json`.
    holds: Vec<HoldView>,
    /// Whether no agents are started.
    paused: bool,
}

#[derive(Debug, Serialize)]
struct Counts {
    running: usize,
    retrying: usize,
}

/// A run at work.
#[derive(Debug, Serialize)]
struct Running {
    issue_id: Option<IssueId>,
    issue_identifier: Option<IssueId>,
    state: Option<IssueStatus>,
    /// The run: it can be opened at `/runs/ID`.
    session_id: String,
    turn_count: u64,
    last_event: Option<String>,
    last_message: Option<String>,
    started_at: Timestamp,
    last_event_at: Option<Timestamp>,
    tokens: Tokens,
}

/// Something that is tried again later.
#[derive(Debug, Serialize)]
struct Retrying {
    issue_id: IssueId,
    issue_identifier: IssueId,
    attempt: u32,
    due_at: Timestamp,
    error: String,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Tokens {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
    #[serde(rename = "total_tokens")]
    total: u64,
}

/// What all agents of the project used.
#[derive(Debug, Serialize)]
struct Totals {
    #[serde(flatten)]
    tokens: Tokens,
    seconds_running: f64,
}

impl From<UsageView> for Tokens {
    fn from(usage: UsageView) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            total: usage.tokens(),
        }
    }
}

impl From<RetryView> for Retrying {
    fn from(retry: RetryView) -> Self {
        Self {
            issue_id: retry.issue.clone(),
            issue_identifier: retry.issue,
            attempt: retry.attempt,
            due_at: retry.due_at,
            error: retry.reason,
        }
    }
}

fn running(session: &Session, view: RunningView) -> Result<Running, StoreError> {
    let run = view.run;
    let issue = run.issue.as_ref().map(|id| session.store.issue(id));
    Ok(Running {
        issue_id: run.issue.clone(),
        state: issue.transpose()?.map(|issue| issue.state.status()),
        issue_identifier: run.issue,
        session_id: run.id.to_string(),
        turn_count: run.usage.turns,
        last_event: view.last_event.clone(),
        last_message: view.last_event,
        started_at: run.started_at,
        last_event_at: view.last_event_at,
        tokens: run.usage.into(),
    })
}

/// Answers with the state of the project.
pub(super) fn state(session: &mut Session, turn: &Turn, _: &Asked) -> Result<Response, Failure> {
    let status = status_of(session, turn)?;
    let used = session.store.used(&session.project.id, turn.now)?;
    let running: Result<Vec<Running>, StoreError> = status
        .running
        .into_iter()
        .map(|view| running(session, view))
        .collect();
    let running = running?;
    let retrying: Vec<Retrying> = status.retries.into_iter().map(Retrying::from).collect();
    let state = State {
        generated_at: turn.now,
        counts: Counts {
            running: running.len(),
            retrying: retrying.len(),
        },
        running,
        retrying,
        codex_totals: Totals {
            tokens: Tokens {
                input: used.input.get(),
                output: used.output.get(),
                total: used.tokens.get(),
            },
            seconds_running: Duration::from_millis(used.ms).as_secs_f64(),
        },
        rate_limits: None,
        holds: status.holds,
        paused: status.paused,
    };
    Ok(json(StatusCode::OK, &state))
}

/// Answers with what is known of an issue.
pub(super) fn issue(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let id = issue_of(asked)?;
    let issue = session.store.issue(&id).map_err(|error| match error {
        StoreError::NotFound { .. } => Failure::UnknownIssue(error.to_string()),
        error => error.into(),
    })?;
    let status = status_of(session, turn)?;
    let mut at_work = status.running.into_iter();
    let live = at_work
        .find(|view| view.run.issue.as_ref() == Some(&id))
        .map(|view| running(session, view))
        .transpose()?;
    let retries = session.store.retries(Some(&issue.project))?;
    let retry = retries.into_iter().find(|retry| retry.issue == id);
    let retry = retry.map(|retry| Retrying::from(RetryView::from(retry)));
    let runs = session.store.runs(&RunFilter {
        issue: Some(id.clone()),
        agents_only: true,
        ..RunFilter::default()
    })?;
    let project = session.store.project(&issue.project)?;
    let newest = runs.first();
    let worktree = newest.and_then(|run| run.worktree.as_deref());
    let logs = newest.map(|run| {
        value!([{
            "label": "latest",
            "path": RunPaths::new(&project.root, &run.id).log(),
            "url": format!("/runs/{}/log", run.id),
        }])
    });
    let events = session.store.events(&EventFilter {
        issue: Some(id.clone()),
        limit: Some(EVENTS),
        ..EventFilter::default()
    })?;
    let events = events
        .into_iter()
        .map(EventView::from)
        .map(|event| value!({ "at": event.at, "event": event.kind, "message": event.sentence }));
    let status = match (&live, &retry) {
        (Some(_), _) => "running",
        (None, Some(_)) => "retrying",
        (None, None) => issue.state.status().name(),
    };
    let document = value!({
        "issue_identifier": id,
        "issue_id": id,
        "status": status,
        "workspace": worktree.map(|worktree| value!({ "path": project.root.join(worktree) })),
        "attempts": {
            "restart_count": runs.len().saturating_sub(1),
            "current_retry_attempt": retry.as_ref().map(|retry| retry.attempt),
        },
        "running": live,
        "retry": retry,
        "logs": { "codex_session_logs": logs.unwrap_or_else(|| value!([])) },
        "recent_events": events.collect::<Vec<Value>>(),
        "last_error": read::issue(session, &id)?.last_failure,
        "tracked": {},
    });
    Ok(json(StatusCode::OK, &document))
}

/// Asks for a tick now. Requests that come while one is asked for already are answered by the same one.
pub(crate) async fn refresh(Extension(turn): Extension<Turn>) -> Response {
    let refreshed = turn.site.refresh();
    json(
        StatusCode::ACCEPTED,
        &value!({
            "queued": true,
            "coalesced": refreshed == Refreshed::WithAnother,
            "requested_at": turn.now,
            "operations": ["poll", "reconcile"],
        }),
    )
}
