//! A temporary worktree whose run has ended: nothing in it is committed, and it is removed.

use symphony_core::Timestamp;
use symphony_workspace::{WorkspaceError, WorktreeKey};

use super::tampered::end_if_tampered;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;
use crate::supervise::temporary::remove_temporary;

/// Removes the run's temporary worktree. If that fails, the run has not failed: a later one tries again.
pub(super) fn settle_temporary(
    job: &Job<'_>,
    key: &WorktreeKey,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let repository = open_repository(&job.project, &job.config)?;
    match repository.worktree(key, None) {
        Ok(worktree) if end_if_tampered(job, &repository, &worktree, outcome)? => {
            // It stays for a person to look at. Only a ref can be made safely, and the commit may be on no other one.
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
