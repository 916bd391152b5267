//! A temporary worktree, when its run has ended: nothing of it is committed, and it goes.

use symphony_core::Timestamp;
use symphony_workspace::{WorkspaceError, WorktreeKey};

use super::tampered::end_if_tampered;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;
use crate::supervise::temporary::remove_temporary;

/// Removes the run's temporary worktree. What keeps it from being removed is no failure of the run: a later one tries
/// again.
pub(super) fn settle_temporary(
    job: &Job<'_>,
    key: &WorktreeKey,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let repository = open_repository(&job.project, &job.config)?;
    match repository.worktree(key, None) {
        Ok(worktree) if end_if_tampered(job, &repository, &worktree, outcome)? => {
            // it stays for a person; a ref is all that is safe to make, and the commit may be in no other
            if let Some(rescue) = repository.keep_head(&worktree, Timestamp::now())? {
                tracing::info!(%rescue, "what the agent committed was kept");
            }
            return Ok(());
        }
        Ok(_) | Err(WorkspaceError::WorktreeMissing { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if let Err(error) = remove_temporary(&repository, key) {
        tracing::warn!(%error, "the temporary worktree stays for now");
    }
    Ok(())
}
