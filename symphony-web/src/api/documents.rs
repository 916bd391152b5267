//! The documents that the commands print with `--json`: made by the same functions.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use symphony_core::issue::IssueStatus;
use symphony_core::learning::{LearningState, LearningType};
use symphony_core::pull_request::PrState;
use symphony_runner::session::Session;
use symphony_store::{EventFilter, IssueFilter, LearningFilter, PrFilter, RunFilter, StoreError};
use symphony_view::read::{self, BoardFilter};
use symphony_view::text::{Document, List};
use symphony_view::{Elsewhere, EventView, RunView, StatusView};

use super::answer::json;
use super::query::{
    flag, issue as issue_in, issue_of, named, number, plan as plan_in, plan_of, pr_of,
};
use crate::asked::Asked;
use crate::server::{Failure, Turn, events_in_scope, is_in_scope, turn_to_project};

/// Things of a list that are read unless a limit is given.
const LIMIT: u32 = 100;

/// The highest limit.
const LIMIT_MAX: u32 = 1_000;

/// Days of spending that are read unless their number is given.
const DAYS: u32 = 30;

/// The highest number of days.
const DAYS_MAX: u32 = 3_660;

#[expect(
    clippy::unnecessary_wraps,
    reason = "each document is made by one form of function"
)]
fn answer<T: Serialize>(view: &T) -> Result<Response, Failure> {
    Ok(json(StatusCode::OK, &Document::of(view)))
}

fn limit(asked: &Asked) -> Result<u32, Failure> {
    let limit = number(asked, "limit")?.unwrap_or(LIMIT);
    Ok(limit.clamp(1, LIMIT_MAX))
}

pub(super) fn status_of(session: &mut Session, turn: &Turn) -> Result<StatusView, Failure> {
    let elsewhere = Elsewhere::load(Some(&session.project.root), &session.store)?;
    Ok(read::status(session, &elsewhere, turn.now)?)
}

pub(super) fn status(session: &mut Session, turn: &Turn, _: &Asked) -> Result<Response, Failure> {
    answer(&status_of(session, turn)?)
}

pub(super) fn board(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    turn_to_project(session, turn, asked.query("project"))?;
    let status = status_of(session, turn)?;
    let filter = BoardFilter {
        label: asked.query("label").map(str::to_owned),
        text: asked.query("text").map(str::to_owned),
    };
    answer(&read::board(session, &status, &filter)?)
}

pub(super) fn inbox(session: &mut Session, turn: &Turn, _: &Asked) -> Result<Response, Failure> {
    let elsewhere = Elsewhere::load(Some(&session.project.root), &session.store)?;
    let mut items = read::inbox(session, &elsewhere, turn.now)?;
    items.retain(|view| is_in_scope(session, turn, view.item.project.as_ref()));
    answer(&List { items })
}

pub(super) fn issues(session: &mut Session, _: &Turn, asked: &Asked) -> Result<Response, Failure> {
    let filter = IssueFilter {
        project: Some(session.project.id.clone()),
        status: named(asked, "status", IssueStatus::parse)?,
        label: asked.query("label").map(str::to_owned),
        text: asked.query("text").map(str::to_owned),
        limit: Some(limit(asked)?),
        after: issue_in(asked, "after")?,
        ..IssueFilter::default()
    };
    answer(&read::issues(session, &filter)?)
}

pub(super) fn issue(session: &mut Session, _: &Turn, asked: &Asked) -> Result<Response, Failure> {
    let id = issue_of(asked)?;
    let issue = read::issue(session, &id).map_err(|error| match error {
        StoreError::NotFound { .. } => Failure::UnknownIssue(error.to_string()),
        error => error.into(),
    });
    answer(&issue?)
}

pub(super) fn runs(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Response, Failure> {
    let issue = issue_in(asked, "issue")?;
    // the inbox names issues of every project of the installation
    let project = match &issue {
        Some(issue) => session.store.issue(issue)?.project,
        None => session.project.id.clone(),
    };
    if !is_in_scope(session, turn, Some(&project)) {
        return Err(Failure::NotFound("there is no such issue".to_owned()));
    }
    let filter = RunFilter {
        project: Some(project),
        issue,
        plan: plan_in(asked, "plan")?,
        live_only: flag(asked, "live")?,
        agents_only: false,
        limit: Some(limit(asked)?),
    };
    answer(&read::runs(session, &filter)?)
}

pub(super) fn run(session: &mut Session, _: &Turn, asked: &Asked) -> Result<Response, Failure> {
    let run = session.store.find_run(&asked.id)?;
    answer(&RunView::from(run))
}

pub(super) fn pull_requests(
    session: &mut Session,
    _: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let filter = PrFilter {
        project: Some(session.project.id.clone()),
        state: named(asked, "state", PrState::parse)?,
        issue: issue_in(asked, "issue")?,
        plan: plan_in(asked, "plan")?,
        limit: Some(limit(asked)?),
    };
    answer(&read::pull_requests(session, &filter)?)
}

pub(super) fn pull_request(
    session: &mut Session,
    _: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let pr = session.store.pr(pr_of(asked)?)?;
    answer(&read::whole_pull_request(session, pr)?)
}

pub(super) fn plans(session: &mut Session, _: &Turn, _: &Asked) -> Result<Response, Failure> {
    answer(&read::plans(session)?)
}

pub(super) fn plan(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Response, Failure> {
    let record = session.store.plan(&plan_of(asked)?)?;
    answer(&read::plan(session, &record, turn.now)?)
}

pub(super) fn learnings(
    session: &mut Session,
    _: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let state = named(asked, "state", LearningState::parse)?;
    let usual = || vec![LearningState::Proposed, LearningState::Accepted];
    let filter = LearningFilter {
        project: Some(session.project.id.clone()),
        learning_type: named(asked, "type", LearningType::parse)?,
        states: state.map_or_else(usual, |state| vec![state]),
        or_proposed_by: None,
        limit: Some(limit(asked)?),
    };
    answer(&read::learnings(session, &filter)?)
}

pub(super) fn spending(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let days = number(asked, "days")?.unwrap_or(DAYS);
    answer(&read::spending(session, days.clamp(1, DAYS_MAX), turn.now)?)
}

/// The newest events, or, after a number, the next ones.
pub(super) fn events(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response, Failure> {
    let limit = limit(asked)?;
    let events = match number(asked, "after")? {
        Some(after) => session.store.events_after(after, limit)?,
        None => session.store.events(&EventFilter {
            limit: Some(limit),
            ..EventFilter::default()
        })?,
    };
    let events = events_in_scope(session, turn, events);
    let events: List<EventView> = events.into_iter().map(EventView::from).collect();
    answer(&events)
}
