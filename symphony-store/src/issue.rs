//! Writing issues: adding, editing, moving.

use rusqlite::{OptionalExtension, Transaction, params};
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{
    AttemptCounts, Issue, IssueEvent, IssueState, IssueStatus, Priority, Size, apply, check_labels,
    check_required_text, check_text, check_title,
};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::PrState;

use crate::context::{Actor, Context};
use crate::error::StoreError;
use crate::event::{About, append};
use crate::issue_dependency::set_dependencies;
use crate::issue_query::load_issue;
use crate::note::add_limited_comment;
use crate::open::Store;
use crate::phase_claim::reject;
use crate::phase_claim_query::load_open_claim;
use crate::phase_verdict::step_in_todo;
use crate::pull_request::set_state;
use crate::pull_request_query::load_open_pr;
use crate::row::to_json;
use crate::subtask::open_parent;

/// Issues that one run may make (spec: mcp, "Limits").
const RUN_ISSUES_MAX: i64 = 20;

/// An issue to be made.
#[derive(Debug, Clone)]
pub struct NewIssue {
    /// Its project.
    pub project: ProjectId,
    /// Title.
    pub title: String,
    /// What is asked for.
    pub description: String,
    /// `backlog` or `todo`.
    pub status: IssueStatus,
    /// How urgent.
    pub priority: Priority,
    /// How much work.
    pub size: Option<Size>,
    /// Labels.
    pub labels: Vec<String>,
    /// Its parent.
    pub parent: Option<IssueId>,
    /// Issues that must be done before.
    pub depends_on: Vec<IssueId>,
    /// Its id in another tracker.
    pub external_id: Option<String>,
}

/// Returns the key by which titles are compared: lower case, white space collapsed.
pub(crate) fn title_key(title: &str) -> String {
    title
        .to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn sorted(labels: &[String]) -> Vec<String> {
    let mut labels = labels.to_vec();
    labels.sort();
    labels.dedup();
    labels
}

pub(crate) fn rank(priority: Priority) -> i64 {
    Priority::ALL
        .iter()
        .position(|p| *p == priority)
        .and_then(|i| i64::try_from(i).ok())
        .unwrap_or(4)
}

impl Store {
    /// Makes an issue. A parent in `todo` or `in_progress` waits for it from then on, whoever makes it.
    ///
    /// # Errors
    /// When a field breaks a limit, the project, parent or a dependency does not exist, parent and sub-task would wait for
    /// each other, or an agent repeats the title of an open issue.
    pub fn add_issue(&mut self, context: &Context, new: &NewIssue) -> Result<Issue, StoreError> {
        self.make_issue(context, new, |_tx| Ok(()))
    }

    /// Makes an issue, unless an open one of the project has its title, whoever asks.
    ///
    /// # Errors
    /// As [`Store::add_issue`], and when an open issue has the same title.
    pub fn file_issue(&mut self, context: &Context, new: &NewIssue) -> Result<Issue, StoreError> {
        self.make_issue(context, new, |tx| refuse_duplicate_title(tx, new))
    }

    fn make_issue(
        &mut self,
        context: &Context,
        new: &NewIssue,
        check: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<Issue, StoreError> {
        check_title(&new.title)?;
        check_text("description", &new.description)?;
        check_labels(&new.labels)?;
        let state = match new.status {
            IssueStatus::Backlog => IssueState::Backlog,
            IssueStatus::Todo => IssueState::Todo,
            other => {
                return Err(StoreError::refused(format!(
                    "a new issue can not be `{other}`: use `backlog` or `todo`"
                )));
            }
        };
        self.write(context, |tx| {
            check(tx)?;
            let parent = open_parent(tx, new)?;
            let id = add_issue_in(tx, context, new, &state)?;
            if let Some(parent) = parent {
                move_in(tx, context, &parent, &IssueEvent::SubtasksOpened)?;
            }
            load_issue(tx, &id)
        })
    }

    /// Moves an issue by an event of its state machine.
    ///
    /// # Errors
    /// When the issue does not exist, or the table has no such transition.
    pub fn move_issue(
        &mut self,
        context: &Context,
        id: &IssueId,
        event: &IssueEvent,
    ) -> Result<Issue, StoreError> {
        self.write(context, |tx| {
            move_in(tx, context, id, event)?;
            load_issue(tx, id)
        })
    }

    /// Moves an issue and says why in a comment, both or neither.
    ///
    /// # Errors
    /// As [`Store::move_issue`], and when the comment is empty or too long, or the run has written too many.
    pub fn move_issue_with_comment(
        &mut self,
        context: &Context,
        id: &IssueId,
        event: &IssueEvent,
        comment: &str,
    ) -> Result<Issue, StoreError> {
        check_required_text("comment", comment)?;
        self.write(context, |tx| {
            move_in(tx, context, id, event)?;
            add_limited_comment(tx, context, id, comment)?;
            load_issue(tx, id)
        })
    }

    /// Clears what counts towards the circuit breaker and the retry's appointment: a human says "try again".
    ///
    /// # Errors
    /// When the issue does not exist.
    pub fn clear_counts(&mut self, context: &Context, id: &IssueId) -> Result<Issue, StoreError> {
        self.write(context, |tx| {
            set_counts(tx, id, AttemptCounts::default())?;
            tx.prepare_cached("DELETE FROM retry WHERE issue = ?1")?
                .execute([id.as_str()])?;
            append(tx, context, About::issue(id), &LogEvent::CountsCleared {})?;
            load_issue(tx, id)
        })
    }
}

/// Makes an issue inside a transaction. A run makes a limited number, and none with the title of an open one.
pub(crate) fn add_issue_in(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewIssue,
    state: &IssueState,
) -> Result<IssueId, StoreError> {
    if let Actor::Run(key) = &context.actor {
        refuse_duplicate_title(tx, new)?;
        let made: i64 = tx
            .prepare_cached("SELECT count(*) FROM event WHERE run = ?1 AND kind = 'issue_added'")?
            .query_row([key.run.as_str()], |row| row.get(0))?;
        if made >= RUN_ISSUES_MAX {
            return Err(StoreError::refused(format!(
                "a run may make at most {RUN_ISSUES_MAX} issues; put the rest into a finding"
            )));
        }
    }
    let id = insert_issue(tx, context, new, state)?;
    set_labels(tx, &id, &new.labels)?;
    set_dependencies(tx, &id, &new.depends_on)?;
    append(
        tx,
        context,
        About::issue(&id),
        &LogEvent::IssueAdded {
            state: state.clone(),
            title: new.title.clone(),
        },
    )?;
    Ok(id)
}

fn refuse_duplicate_title(tx: &Transaction<'_>, new: &NewIssue) -> Result<(), StoreError> {
    let twin: Option<String> = tx.prepare_cached(
        "SELECT id FROM issue WHERE project = ?1 AND title_key = ?2 AND status NOT IN ('done', 'cancelled') LIMIT 1",
    )?
    .query_row([new.project.as_str(), &title_key(&new.title)], |row| row.get(0))
    .optional()?;
    match twin {
        None => Ok(()),
        Some(id) => Err(StoreError::refused(format!(
            "{id} is open and has the same title: add a comment or a finding there instead"
        ))),
    }
}

fn insert_issue(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewIssue,
    state: &IssueState,
) -> Result<IssueId, StoreError> {
    let (prefix, number): (String, i64) = tx.prepare_cached(
        "UPDATE project SET next_number = next_number + 1 WHERE id = ?1 RETURNING prefix, next_number - 1",
    )?
    .query_row([new.project.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
    .optional()?
    .ok_or_else(|| StoreError::not_found("project", &new.project))?;
    let id = IssueId::new(&prefix, u64::try_from(number).unwrap_or(0))
        .map_err(|error| StoreError::refused(error.to_string()))?;
    if let Some(parent) = &new.parent {
        load_issue(tx, parent)?;
    }
    tx.prepare_cached(
        "INSERT INTO issue (id, project, number, title, title_key, description, status, priority, size, parent, external_id, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)",
    )?
    .execute(params![
        id.as_str(),
        new.project.as_str(),
        number,
        new.title,
        title_key(&new.title),
        new.description,
        state.status().name(),
        rank(new.priority),
        new.size.map(Size::name),
        new.parent.as_ref().map(IssueId::as_str),
        new.external_id,
        context.now.as_millisecond(),
    ])?;
    Ok(id)
}

/// Replaces an issue's labels.
pub(crate) fn set_labels(
    tx: &Transaction<'_>,
    id: &IssueId,
    labels: &[String],
) -> Result<(), StoreError> {
    let labels = sorted(labels);
    tx.prepare_cached("UPDATE issue SET labels = ?2 WHERE id = ?1")?
        .execute([id.as_str(), &to_json(&labels)])?;
    tx.prepare_cached("DELETE FROM issue_label WHERE issue = ?1")?
        .execute([id.as_str()])?;
    for label in &labels {
        tx.prepare_cached("INSERT INTO issue_label (issue, label) VALUES (?1, ?2)")?
            .execute([id.as_str(), label])?;
    }
    Ok(())
}

/// Writes what counts towards the circuit breaker.
pub(crate) fn set_counts(
    tx: &Transaction<'_>,
    id: &IssueId,
    counts: AttemptCounts,
) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE issue SET consecutive_failures = ?2, total_runs = ?3 WHERE id = ?1")?
        .execute(params![
            id.as_str(),
            counts.consecutive_failures,
            counts.total_runs
        ])?;
    Ok(())
}

/// An issue that has ended leaves nothing to review; a merge settles its pull request itself.
fn close_reviews(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    event: &IssueEvent,
) -> Result<(), StoreError> {
    if *event != IssueEvent::Merged
        && let Some(pr) = load_open_pr(tx, id)?
    {
        set_state(tx, context, &pr, PrState::Closed)?;
    }
    match load_open_claim(tx, id)? {
        Some(claim) => reject(tx, context, &claim, "its issue has ended"),
        None => Ok(()),
    }
}

/// Moves an issue inside a transaction: the one way to change a status.
pub(crate) fn move_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    event: &IssueEvent,
) -> Result<IssueState, StoreError> {
    let issue = load_issue(tx, id)?;
    let state = apply(&issue.state, event).map_err(|source| StoreError::Transition {
        id: id.to_string(),
        source,
    })?;
    let block = state.block();
    tx.prepare_cached(
        "UPDATE issue SET status = ?2, blocked_by = ?3, blocked_reason = ?4, updated_at = ?5 WHERE id = ?1",
    )?
    .execute(params![
        id.as_str(),
        state.status().name(),
        block.map(|b| b.by.name()),
        block.map(|b| b.reason.as_str()),
        context.now.as_millisecond(),
    ])?;
    let (was_done, is_done) = (
        issue.state.status() == IssueStatus::Done,
        state.status() == IssueStatus::Done,
    );
    if was_done != is_done {
        let step = if is_done { -1 } else { 1 };
        tx.prepare_cached(
            "UPDATE issue SET open_dependencies = open_dependencies + ?2
             WHERE id IN (SELECT issue FROM issue_dependency WHERE depends_on = ?1)",
        )?
        .execute(params![id.as_str(), step])?;
    }
    if state.status() != IssueStatus::Todo {
        tx.prepare_cached("DELETE FROM retry WHERE issue = ?1")?
            .execute([id.as_str()])?;
    }
    let human_restart = matches!(event, IssueEvent::Queued | IssueEvent::Reopened);
    if human_restart || matches!(event, IssueEvent::PhaseAccepted { .. }) {
        set_counts(tx, id, AttemptCounts::default())?;
    }
    if state.status().is_terminal() {
        // a run that was claimed since the caller looked is asked to end: nothing is left to be done on the issue
        tx.prepare_cached(
            "UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
             WHERE issue = ?1 AND status IN ('starting', 'running')",
        )?
        .execute(params![id.as_str(), context.now.as_millisecond()])?;
        close_reviews(tx, context, id, event)?;
    }
    if let Actor::Run(key) = &context.actor {
        tx.prepare_cached("UPDATE run SET moved_issue = 1 WHERE id = ?1 AND issue = ?2")?
            .execute([key.run.as_str(), id.as_str()])?;
    }
    append(
        tx,
        context,
        About::issue(id),
        &LogEvent::IssueMoved {
            event: event.clone(),
            from: issue.state.status(),
            to: state.status(),
        },
    )?;
    // who accepts a phase writes the label itself
    if state.status() == IssueStatus::Todo && !matches!(event, IssueEvent::PhaseAccepted { .. }) {
        step_in_todo(tx, context, id)?;
    }
    Ok(state)
}
