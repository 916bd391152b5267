//! Worktrees of ended issues that could not be removed. Later ticks try again, with growing delays.

use symphony_core::exit_handling::unprepared_wait_ms;
use symphony_core::id::IssueId;
use symphony_core::retry::after;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;

impl Store {
    /// Puts off the removal of an issue's worktree after a failed try, and returns how often it was tried.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_clean_up_off(
        &mut self,
        context: &Context,
        issue: &IssueId,
        problem: &str,
    ) -> Result<u32, StoreError> {
        self.write(context, |tx| {
            let before: Option<u32> = tx
                .prepare_cached("SELECT tries FROM clean_up_fault WHERE issue = ?1")?
                .query_row([issue.as_str()], |row| row.get(0))
                .optional()?;
            let tries = before.unwrap_or(0).saturating_add(1);
            let due_at = after(context.now, unprepared_wait_ms(tries, u64::MAX));
            tx.prepare_cached(
                "INSERT INTO clean_up_fault (issue, tries, due_at, problem, since) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (issue) DO UPDATE SET tries = ?2, due_at = ?3, problem = ?4",
            )?
            .execute(params![
                issue.as_str(),
                tries,
                due_at.as_millisecond(),
                problem,
                context.now.as_millisecond()
            ])?;
            Ok(tries)
        })
    }
}

/// Forgets why a worktree could not be removed, because it is gone.
pub(crate) fn forget_clean_up_fault(
    tx: &Transaction<'_>,
    issue: &IssueId,
) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM clean_up_fault WHERE issue = ?1")?
        .execute([issue.as_str()])?;
    Ok(())
}
