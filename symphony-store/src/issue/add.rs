//! Writing issues: adding, editing, moving.

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{
    AttemptCounts, Issue, IssueEvent, IssueState, IssueStatus, Priority, Size, check_labels,
    check_required_text, check_text, check_title, is_near_title,
};
use symphony_core::log::LogEvent;
use symphony_core::profile::{AgentChoice, ModelName};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::gates::failures::forget_failures;
use crate::issue::cascade::move_in;
use crate::issue::dependency::{check_dependency, set_dependencies};
use crate::issue::note::add_limited_comment;
use crate::issue::query::load_issue;
use crate::issue::refusal::{IssueRefusal, RUN_ISSUES_MAX};
use crate::issue::write::{remove_retry, set_counts, set_labels};

/// An issue to be added.
#[derive(Debug, Clone)]
pub struct NewIssue {
    /// Its project.
    pub project: ProjectId,
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
    /// `backlog` or `todo`.
    pub status: IssueStatus,
    /// Priority.
    pub priority: Priority,
    /// Estimated amount of work.
    pub size: Option<Size>,
    /// Labels.
    pub labels: Vec<String>,
    /// Its parent.
    pub parent: Option<IssueId>,
    /// Issues that must be done first.
    pub depends_on: Vec<IssueId>,
    /// Its id in another tracker.
    pub external_id: Option<String>,
    /// What its authors run with, where it is to be something else than for other issues.
    pub choice: AgentChoice,
}

/// Returns the key by which titles are compared: lower case, with white space collapsed.
pub(crate) fn title_key(title: &str) -> String {
    title
        .to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

pub(crate) fn rank(priority: Priority) -> i64 {
    Priority::ALL
        .iter()
        .position(|p| *p == priority)
        .and_then(|i| i64::try_from(i).ok())
        .unwrap_or(4)
}

impl Store {
    /// Adds an issue. A parent in `todo` or `in_progress` waits for it from then on, whoever adds it.
    ///
    /// # Errors
    /// When a field breaks a limit, the project, the parent or a dependency does not exist, parent and sub-task would
    /// wait for each other, or an agent uses the title of an open issue.
    pub fn add_issue(&mut self, context: &Context, new: &NewIssue) -> Result<Issue, StoreError> {
        self.make_issue(context, new, |_tx| Ok(()))
    }

    /// Adds an issue, unless an open one of the project has its title, whoever adds it.
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
        check: impl Fn(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<Issue, StoreError> {
        check_title(&new.title)?;
        check_text("description", &new.description)?;
        check_labels(&new.labels)?;
        let state = match new.status {
            IssueStatus::Backlog => IssueState::Backlog,
            IssueStatus::Todo => IssueState::Todo,
            status => return Err(IssueRefusal::BeginsIn(status).into()),
        };
        self.write(context, |tx| {
            // Checked in the transaction that inserts: two agents that file the same problem at once would both find no
            // duplicate.
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
    /// When the issue does not exist, or the table of transitions has no such row.
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

    /// Moves an issue and explains it in a comment, both or neither.
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

    /// Clears the counts of the circuit breaker and the scheduled retry, because a person wants another try.
    ///
    /// # Errors
    /// When the issue does not exist.
    pub fn clear_counts(&mut self, context: &Context, id: &IssueId) -> Result<Issue, StoreError> {
        self.write(context, |tx| {
            set_counts(tx, id, AttemptCounts::default())?;
            remove_retry(tx, id)?;
            forget_failures(tx, id)?;
            append(tx, context, About::issue(id), &LogEvent::CountsCleared {})?;
            load_issue(tx, id)
        })
    }
}

/// Returns the parent of a new issue if it now has to wait: its first sub-task blocks it (spec: domain, "Issue
/// status"). A parent in the backlog, or one that waits for something else, keeps its status.
fn open_parent(tx: &Transaction<'_>, new: &NewIssue) -> Result<Option<IssueId>, StoreError> {
    let Some(id) = &new.parent else {
        return Ok(None);
    };
    let parent = load_issue(tx, id)?;
    if parent.project != new.project {
        return Err(IssueRefusal::ParentElsewhere(parent.id).into());
    }
    for dependency in &new.depends_on {
        check_dependency(tx, &parent, dependency)?;
    }
    let opens = matches!(parent.state, IssueState::Todo | IssueState::InProgress);
    Ok(opens.then_some(parent.id))
}

/// Adds an issue inside a transaction. A run may add a limited number, and none with the title of an open issue.
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
            return Err(IssueRefusal::TooManyOfRun.into());
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

/// Refuses an issue that repeats an open one. Sub-tasks of different parents may have the same title, since their
/// parents distinguish them.
fn refuse_duplicate_title(tx: &Transaction<'_>, new: &NewIssue) -> Result<(), StoreError> {
    let mut open = tx.prepare_cached(
        "SELECT id, title FROM issue WHERE project = ?1 AND status NOT IN ('done', 'cancelled')
         AND (CAST(?2 AS TEXT) IS NULL OR parent IS NULL OR parent = ?2 OR id = ?2) ORDER BY number",
    )?;
    let parent = new.parent.as_ref().map(IssueId::as_str);
    let mut rows = open.query(params![new.project.as_str(), parent])?;
    let mut near: Option<(String, String)> = None;
    while let Some(row) = &rows.next()? {
        let title: String = row.get("title")?;
        if title_key(&title) == title_key(&new.title) {
            let issue = row.get("id")?;
            return Err(IssueRefusal::SameTitle(issue).into());
        }
        if near.is_none() && is_near_title(&title, &new.title) {
            near = Some((row.get("id")?, title));
        }
    }
    match near {
        None => Ok(()),
        Some((issue, title)) => Err(IssueRefusal::NearTitle { issue, title }.into()),
    }
}

fn insert_issue(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewIssue,
    state: &IssueState,
) -> Result<IssueId, StoreError> {
    // One statement takes the number and raises the counter, in the transaction that uses it: no number is given to two
    // issues.
    let (prefix, number): (String, i64) = tx.prepare_cached(
        "UPDATE project SET next_number = next_number + 1 WHERE id = ?1 RETURNING prefix, next_number - 1",
    )?
    .query_row([new.project.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
    .optional()?
    .ok_or_else(|| StoreError::not_found("project", &new.project))?;
    let id =
        IssueId::new(&prefix, u64::try_from(number).unwrap_or(0)).map_err(IssueRefusal::from)?;
    if let Some(parent) = &new.parent {
        load_issue(tx, parent)?;
    }
    tx.prepare_cached(
        "INSERT INTO issue (id, project, number, title, title_key, description, status, priority, size, parent, external_id, created_at, updated_at, provider, model)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14)",
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
        new.choice.provider,
        new.choice.model.as_ref().map(ModelName::as_str),
    ])?;
    Ok(id)
}
