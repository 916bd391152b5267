//! What is recorded about the worktrees and branches of issues. Clean-up finds them by it.

use symphony_core::id::{IssueId, RunId};
use symphony_core::left_behind::put_aside_comment;
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::issue::clean_up_fault::forget_clean_up_fault;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;

impl Store {
    /// Requests that an issue's branch is deleted with its worktree, merged or not.
    ///
    /// # Errors
    /// When the issue does not exist.
    pub fn request_branch_deletion(
        &mut self,
        context: &Context,
        id: &IssueId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            load_issue(tx, id)?;
            tx.execute(
                "UPDATE issue SET delete_branch = 1 WHERE id = ?1",
                [id.as_str()],
            )?;
            append(
                tx,
                context,
                About::issue(id),
                &LogEvent::BranchDeletionRequested {},
            )
        })
    }

    /// Returns whether an issue's branch is to be deleted with its worktree even if it is not merged.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn branch_deletion_requested(&self, id: &IssueId) -> Result<bool, StoreError> {
        let wanted: Option<bool> = self
            .conn
            .prepare_cached("SELECT delete_branch FROM issue WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(wanted.unwrap_or(false))
    }

    /// Records whether an issue has a worktree, so that clean-up finds it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_worktree(
        &mut self,
        context: &Context,
        id: &IssueId,
        present: bool,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE issue SET has_worktree = ?2 WHERE id = ?1",
                params![id.as_str(), present],
            )?;
            forget_clean_up_fault(tx, id)?;
            let event = if present {
                LogEvent::WorktreePresent {}
            } else {
                LogEvent::WorktreeRemoved {}
            };
            append(tx, context, About::issue(id), &event)
        })
    }

    /// Returns whether this database knows of a worktree, and so a branch, that the issue ever had, or of a pull
    /// request.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn knows_branch_of(&self, id: &IssueId) -> Result<bool, StoreError> {
        // From the log, not from `has_worktree`: the branch outlives the worktree, and a known branch must not be
        // rescued as a stray one.
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM event WHERE issue = ?1 AND kind = 'worktree_present')
                     OR EXISTS (SELECT 1 FROM pull_request WHERE issue = ?1)",
            )?
            .query_row([id.as_str()], |row| row.get(0))?)
    }

    /// Records that work after an issue's hand-in was put aside, unless the end of a run does.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_put_aside(
        &mut self,
        context: &Context,
        id: &IssueId,
        rescue: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| put_aside_in(tx, context, id, None, rescue))
    }

    /// Records that a branch unknown to the database was found, and the rescue ref that has its commits. The inbox
    /// names it until the issue ends.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_rescued_branch(
        &mut self,
        context: &Context,
        id: &IssueId,
        branch: &str,
        rescue: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE issue SET rescued_branch = ?2 WHERE id = ?1",
                params![id.as_str(), rescue],
            )?;
            let event = LogEvent::BranchRescued {
                branch: branch.to_owned(),
                rescue: rescue.to_owned(),
            };
            append(tx, context, About::issue(id), &event)
        })
    }
}

/// Records that work after an issue's hand-in was put aside, in the log and in a comment for whoever continues the
/// issue.
pub(crate) fn put_aside_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    run: Option<&RunId>,
    rescue: &str,
) -> Result<(), StoreError> {
    let about = About {
        run,
        ..About::issue(id)
    };
    let event = LogEvent::WorkPutAside {
        rescue: rescue.to_owned(),
    };
    append(tx, context, about, &event)?;
    add_comment_in(tx, context, id, &put_aside_comment(rescue))?;
    Ok(())
}
