//! Sub-tasks: a planner creates them, and their parent waits for them (spec: orchestrator, "Unblock"; mcp,
//! `create_subtask`).

use symphony_core::id::IssueId;
use symphony_core::issue::{
    BlockedBy, Issue, IssueEvent, IssueState, IssueStatus, Priority, Size, check_required_text,
    check_title,
};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::add::{NewIssue, add_issue_in};
use crate::issue::cascade::move_in;
use crate::issue::dependency::check_dependency;
use crate::issue::query::load_issue;
use crate::issue::refusal::{IssueRefusal, LEVELS_MAX};
use crate::run::hand_in::forget_refused_call;

/// The label of a sub-task, which a worker takes without research (spec: domain, "Phases").
const SUBTASK_LABEL: &str = "phase:ready";

/// A sub-task to be created.
#[derive(Debug, Clone)]
pub struct NewSubtask {
    /// The issue to split.
    pub parent: IssueId,
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
    /// Priority; `None` takes that of the parent.
    pub priority: Option<Priority>,
    /// Estimated amount of work.
    pub size: Option<Size>,
    /// Issues of the project that must be done first, usually sub-tasks of the same parent.
    pub depends_on: Vec<IssueId>,
}

/// A new sub-task.
#[derive(Debug, Clone)]
pub struct Subtask {
    /// The sub-task: in `todo`, with the label `phase:ready`.
    pub issue: Issue,
    /// Its parent, which now waits for it.
    pub parent: Issue,
}

impl Store {
    /// Creates a sub-task. The first one blocks its parent until all have ended: both or neither.
    ///
    /// # Errors
    /// When a field breaks a limit, the parent cannot wait for sub-tasks in its status, a dependency is missing,
    /// cancelled, of another project or waits for the parent itself, or, for a run, when it created too many issues or
    /// its parent, another sub-task of it or an issue without a parent is open and has nearly the same title.
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
            let id = add_issue_in(tx, context, &new_issue(&parent, new), &IssueState::Todo)?;
            if opens {
                move_in(tx, context, &parent.id, &IssueEvent::SubtasksOpened)?;
            }
            forget_refused_call(tx, context)?;
            Ok(Subtask {
                issue: load_issue(tx, &id)?,
                parent: load_issue(tx, &parent.id)?,
            })
        })
    }

    /// Moves an issue whose sub-tasks have ended back to `todo`. The counts of the circuit breaker are kept.
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
                let issue = id.clone();
                return Err(IssueRefusal::SubtasksOpen { issue, open, done }.into());
            }
            move_in(tx, context, id, &IssueEvent::SubtasksClosed)?;
            load_issue(tx, id)
        })
    }
}

/// Returns whether a sub-task moves its parent. A parent that already waits for sub-tasks keeps its status.
fn opens_parent(parent: &Issue) -> Result<bool, StoreError> {
    match &parent.state {
        IssueState::Todo | IssueState::InProgress => Ok(true),
        IssueState::Blocked(block) if block.by == BlockedBy::Subtasks => Ok(false),
        state => Err(IssueRefusal::NoSubtasksNow {
            parent: parent.id.clone(),
            status: state.status(),
        }
        .into()),
    }
}

pub(crate) fn check_level(tx: &Transaction<'_>, parent: &IssueId) -> Result<(), StoreError> {
    let level: i64 = tx.query_row(
        "WITH RECURSIVE up (id, level) AS (
             SELECT id, 1 FROM issue WHERE id = ?1 UNION ALL
             SELECT i.parent, level + 1 FROM up JOIN issue i ON i.id = up.id WHERE i.parent IS NOT NULL AND level <= ?2)
         SELECT coalesce(max(level), 0) FROM up",
        crate::db::params![parent.as_str(), LEVELS_MAX],
        |row| row.get(0),
    )?;
    if level > LEVELS_MAX {
        let parent = parent.clone();
        return Err(IssueRefusal::TooDeep(parent).into());
    }
    Ok(())
}

fn new_issue(parent: &Issue, new: &NewSubtask) -> NewIssue {
    NewIssue {
        project: parent.project.clone(),
        title: new.title.clone(),
        description: new.description.clone(),
        status: IssueStatus::Todo,
        priority: new.priority.unwrap_or(parent.priority),
        size: new.size,
        labels: vec![SUBTASK_LABEL.to_owned()],
        parent: Some(new.parent.clone()),
        depends_on: new.depends_on.clone(),
        external_id: None,
        // whoever chose an agent for the whole chose it for its parts
        choice: parent.choice.clone(),
    }
}
