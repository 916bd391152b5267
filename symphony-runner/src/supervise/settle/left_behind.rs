//! Work that the run left in its worktree outside of any commit, for the record of the run.

use serde_json::json;
use symphony_core::left_behind::LEFT_NAMED_MAX;
use symphony_workspace::{BranchName, Repository, Worktree};

use super::note::add;
use crate::error::RunnerError;
use crate::supervise::outcome::AgentOutcome;

/// Records in the outcome what was left. Must be called after everything that can be committed is.
///
/// What an agent did to its worktree may prevent git from looking. Then the run ends as usual, and its record says so.
pub(super) fn note_left_behind(
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let base = repository.branch_head(base)?;
    let mut left = match repository.left_behind(worktree, base.as_ref()) {
        Ok(left) => left,
        Err(error) => {
            tracing::warn!(%error, "cannot find out what the run left in its worktree");
            let why = json!(error.to_string());
            outcome.metadata.insert("left_behind_error".to_owned(), why);
            return Ok(());
        }
    };
    if left.is_empty() {
        return Ok(());
    }
    let count = left.len();
    left.truncate(LEFT_NAMED_MAX);
    add(left, outcome);
    if count > LEFT_NAMED_MAX {
        let count = json!(count);
        outcome
            .metadata
            .insert("left_behind_count".to_owned(), count);
    }
    Ok(())
}
