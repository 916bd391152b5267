//! Sub-tasks: made by a planner, waited for by their parent (spec: orchestrator, "Unblock"; mcp, `create_subtask`).

use rusqlite::Transaction;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{
    BlockedBy, Issue, IssueEvent, IssueState, IssueStatus, Priority, Size, check_required_text,
    check_title,
};

use crate::context::Context;
use crate::error::StoreError;
use crate::issue::{NewIssue, add_issue_in, move_in};
use crate::issue_query::load_issue;
use crate::open::Store;

/// The label of a sub-task: a worker takes it without research (spec: domain, "Phases").
const SUBTASK_LABEL: &str = "phase:ready";
/// Levels of sub-tasks below an issue: a planner that splits what a planner split, again and again, does not end.
const LEVELS_MAX: i64 = 3;

/// A sub-task to be made.
#[derive(Debug, Clone)]
pub struct NewSubtask {
    /// The issue that is split.
    pub parent: IssueId,
    /// Title.
    pub title: String,
    /// What is asked for.
    pub description: String,
    /// How urgent.
    pub priority: Priority,
    /// How much work.
    pub size: Option<Size>,
    /// Issues of the project that must be done before, usually sub-tasks of the same parent.
    pub depends_on: Vec<IssueId>,
}

/// A sub-task that was made.
#[derive(Debug, Clone)]
pub struct Subtask {
    /// The sub-task: in `todo`, with the label `phase:ready`.
    pub issue: Issue,
    /// Its parent, which waits for it.
    pub parent: Issue,
}

impl Store {
    /// Makes a sub-task. The first one blocks its parent until all have ended; both or neither.
    ///
    /// # Errors
    /// When a field breaks a limit, the parent can not wait for sub-tasks where it stands, a dependency is missing,
    /// cancelled, of another project or waits for the parent itself, or, for a run, when it made too many issues or one
    /// with this title is open.
    pub fn add_subtask(
        &mut self,
        context: &Context,
        new: &NewSubtask,
    ) -> Result<Subtask, StoreError> {
        check_title(&new.title)?;
        check_required_text("description", &new.description)?;
        self.write(context, |tx| {
            let parent = load_issue(tx, &new.parent)?;
            let opens = opens_parent(&parent)?;
            check_level(tx, &parent.id)?;
            for dependency in &new.depends_on {
                check_dependency(tx, &parent, dependency)?;
            }
            let id = add_issue_in(
                tx,
                context,
                &new_issue(&parent.project, new),
                &IssueState::Todo,
            )?;
            if opens {
                move_in(tx, context, &parent.id, &IssueEvent::SubtasksOpened)?;
            }
            Ok(Subtask {
                issue: load_issue(tx, &id)?,
                parent: load_issue(tx, &parent.id)?,
            })
        })
    }

    /// Puts an issue whose sub-tasks have ended back to `todo`; what counts towards the circuit breaker stays.
    ///
    /// # Errors
    /// When the issue does not wait for sub-tasks, one of them is open, or none is done.
    pub fn close_subtasks(&mut self, context: &Context, id: &IssueId) -> Result<Issue, StoreError> {
        self.write(context, |tx| {
            load_issue(tx, id)?;
            let (open, done): (i64, i64) = tx.query_row(
                "SELECT open_subtasks, done_subtasks FROM issue WHERE id = ?1",
                [id.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            if open > 0 || done == 0 {
                return Err(StoreError::refused(format!(
                    "{id} waits for its sub-tasks: {open} are open, {done} are done"
                )));
            }
            move_in(tx, context, id, &IssueEvent::SubtasksClosed)?;
            load_issue(tx, id)
        })
    }
}

/// Says whether a sub-task moves its parent; one that waits for sub-tasks already stays where it is.
fn opens_parent(parent: &Issue) -> Result<bool, StoreError> {
    match &parent.state {
        IssueState::Todo | IssueState::InProgress => Ok(true),
        IssueState::Blocked(block) if block.by == BlockedBy::Subtasks => Ok(false),
        state => Err(StoreError::refused(format!(
            "{} is `{}`: sub-tasks are made while it is `todo`, `in_progress` or waits for its sub-tasks",
            parent.id,
            state.status()
        ))),
    }
}

/// Returns the parent of a new issue when it has to wait for it from now on: its first sub-task blocks it (spec: domain,
/// "Issue status"). A parent that is not asked for yet, or waits for something else, stays where it is.
pub(crate) fn open_parent(
    tx: &Transaction<'_>,
    new: &NewIssue,
) -> Result<Option<IssueId>, StoreError> {
    let Some(id) = &new.parent else {
        return Ok(None);
    };
    let parent = load_issue(tx, id)?;
    if parent.project != new.project {
        return Err(StoreError::refused(format!(
            "{id} belongs to another project: it can not be the parent"
        )));
    }
    for dependency in &new.depends_on {
        check_dependency(tx, &parent, dependency)?;
    }
    let opens = matches!(parent.state, IssueState::Todo | IssueState::InProgress);
    Ok(opens.then_some(parent.id))
}

fn check_level(tx: &Transaction<'_>, parent: &IssueId) -> Result<(), StoreError> {
    let level: i64 = tx.query_row(
        "WITH RECURSIVE up (id, level) AS (
             SELECT ?1, 1 UNION ALL
             SELECT i.parent, level + 1 FROM up JOIN issue i ON i.id = up.id WHERE i.parent IS NOT NULL AND level <= ?2)
         SELECT max(level) FROM up",
        rusqlite::params![parent.as_str(), LEVELS_MAX],
        |row| row.get(0),
    )?;
    if level > LEVELS_MAX {
        return Err(StoreError::refused(format!(
            "{parent} is a sub-task itself, {LEVELS_MAX} levels deep: it is not split further"
        )));
    }
    Ok(())
}

/// Refuses a dependency that a sub-task could never get: the parent waits for the sub-task, so nothing that waits for
/// the parent may be waited for.
fn check_dependency(
    tx: &Transaction<'_>,
    parent: &Issue,
    dependency: &IssueId,
) -> Result<(), StoreError> {
    let found = load_issue(tx, dependency)?;
    if found.project != parent.project {
        return Err(StoreError::refused(format!(
            "{dependency} belongs to another project"
        )));
    }
    if found.state.status() == IssueStatus::Cancelled {
        return Err(StoreError::refused(format!(
            "a sub-task can not depend on {dependency}: it is cancelled and will never be done"
        )));
    }
    if waits_for(tx, dependency, &parent.id)? {
        return Err(StoreError::refused(format!(
            "a sub-task of {} can not depend on {dependency}: it would wait for itself",
            parent.id
        )));
    }
    Ok(())
}

/// Says whether an issue is, or waits for, another one: by its dependencies or its sub-tasks, directly or through others.
fn waits_for(tx: &Transaction<'_>, from: &IssueId, to: &IssueId) -> Result<bool, StoreError> {
    Ok(tx.query_row(
        "WITH RECURSIVE reach (id) AS (
             SELECT ?1
             UNION SELECT d.depends_on FROM issue_dependency d JOIN reach r ON d.issue = r.id
             UNION SELECT c.id FROM issue c JOIN reach r ON c.parent = r.id)
         SELECT EXISTS (SELECT 1 FROM reach WHERE id = ?2)",
        [from.as_str(), to.as_str()],
        |row| row.get(0),
    )?)
}

fn new_issue(project: &ProjectId, new: &NewSubtask) -> NewIssue {
    NewIssue {
        project: project.clone(),
        title: new.title.clone(),
        description: new.description.clone(),
        status: IssueStatus::Todo,
        priority: new.priority,
        size: new.size,
        labels: vec![SUBTASK_LABEL.to_owned()],
        parent: Some(new.parent.clone()),
        depends_on: new.depends_on.clone(),
        external_id: None,
    }
}
