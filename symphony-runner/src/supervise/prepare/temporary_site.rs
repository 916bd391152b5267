//! A temporary worktree as the place of a run.

use symphony_workspace::Repository;

use super::site::Site;
use crate::error::RunnerError;
use crate::supervise::Job;
use crate::supervise::temporary::{make_temporary, temporary_key};
use symphony_core::wording::with_article;

/// Makes the run's temporary worktree.
pub(super) fn temporary_site(job: &Job<'_>, repository: Repository) -> Result<Site, RunnerError> {
    let Some(key) = temporary_key(&job.run) else {
        return Err(RunnerError::refused(format!(
            "a run of {} on {:?} has no temporary worktree",
            with_article(job.run.agent.name()),
            job.run.target
        )));
    };
    let worktree = make_temporary(job, &repository, &key)?;
    Ok(Site {
        repository,
        worktree,
        branch: None,
        notes: Vec::new(),
        workspace: None,
    })
}
