//! Making an issue a sub-task of another one, or of none.

use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, IssueState};
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::dependency::{check_dependency, waits_for};
use crate::issue::query::load_issue;
use crate::issue::refusal::IssueRefusal;
use crate::issue::subtask::check_level;

impl Store {
    /// Makes an issue a sub-task of `parent`, which waits for it if it is open, or of none.
    ///
    /// # Errors
    /// When one of the issues does not exist, they are of different projects, the sub-tasks would be too deep, or the two would
    /// wait for each other.
    pub fn set_parent(
        &mut self,
        context: &Context,
        id: &IssueId,
        parent: Option<&IssueId>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let issue = load_issue(tx, id)?;
            if issue.parent.as_ref() == parent {
                return Ok(());
            }
            // Checked before the old parent is left: an issue that is refused stays where it was.
            let opens = parent.map(|parent| check(tx, id, parent)).transpose()?;
            leave_parent(tx, context, id)?;
            if let Some(parent) = parent {
                tx.execute(
                    "UPDATE issue SET parent = ?2, updated_at = ?3 WHERE id = ?1",
                    params![id.as_str(), parent.as_str(), context.now.as_millisecond()],
                )?;
                count_subtasks(tx, parent)?;
            }
            let edited = LogEvent::IssueEdited {
                released_from: None,
                labels_added: Vec::new(),
                priority: None,
            };
            append(tx, context, About::issue(id), &edited)?;
            match parent {
                Some(parent) if opens == Some(true) => {
                    move_in(tx, context, parent, &IssueEvent::SubtasksOpened).map(drop)
                }
                _ => Ok(()),
            }
        })
    }
}

/// Refuses a parent that the issue cannot have; returns whether the parent has to wait for it from now on.
fn check(tx: &Transaction<'_>, id: &IssueId, parent: &IssueId) -> Result<bool, StoreError> {
    let issue = load_issue(tx, id)?;
    let parent = load_issue(tx, parent)?;
    if parent.project != issue.project {
        return Err(IssueRefusal::ParentElsewhere(parent.id).into());
    }
    if waits_for(tx, id, &parent.id)? {
        return Err(IssueRefusal::SubtaskInCircle {
            parent: parent.id,
            dependency: id.clone(),
        }
        .into());
    }
    check_level(tx, &parent.id)?;
    for dependency in &issue.depends_on {
        check_dependency(tx, &parent, dependency)?;
    }
    let is_open = !issue.state.status().is_terminal();
    let can_wait = matches!(parent.state, IssueState::Todo | IssueState::InProgress);
    Ok(is_open && can_wait)
}

/// Takes a sub-task from its parent, which would wait for ever if that was its last one.
pub(crate) fn leave_parent(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
) -> Result<(), StoreError> {
    let Some(parent) = load_issue(tx, id)?.parent else {
        return Ok(());
    };
    // Cut the link before counting: the sub-task's row is removed only later, and would still be counted.
    tx.execute(
        "UPDATE issue SET parent = NULL WHERE id = ?1",
        [id.as_str()],
    )?;
    count_subtasks(tx, &parent)?;
    let is_left_alone: bool = tx.query_row(
        "SELECT blocked_by IS NOT DISTINCT FROM 'subtasks' AND NOT EXISTS (SELECT 1 FROM issue c WHERE c.parent = ?1) FROM issue WHERE id = ?1",
        [parent.as_str()],
        |row| row.get(0),
    )?;
    if is_left_alone {
        move_in(tx, context, &parent, &IssueEvent::SubtasksClosed)?;
    }
    Ok(())
}

fn count_subtasks(tx: &Transaction<'_>, parent: &IssueId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE issue SET
             open_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = ?1 AND c.status NOT IN ('done', 'cancelled')),
             done_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = ?1 AND c.status = 'done')
         WHERE id = ?1",
        [parent.as_str()],
    )?;
    Ok(())
}
