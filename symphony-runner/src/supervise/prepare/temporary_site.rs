//! A temporary worktree as the place of a run.

use symphony_workspace::{CommitId, Repository};

use super::site::Site;
use crate::error::RunnerError;
use crate::supervise::Job;
use crate::supervise::temporary::{make_temporary, temporary_key};
use symphony_core::wording::with_article;

/// Creates the run's temporary worktree, on a commit or on the latest base.
pub(super) fn temporary_site(
    job: &Job<'_>,
    repository: Repository,
    at: Option<&CommitId>,
) -> Result<Site, RunnerError> {
    let Some(key) = temporary_key(&job.run) else {
        return Err(RunnerError::refused(format!(
            "a run of {} on {:?} has no temporary worktree",
            with_article(job.run.agent.name()),
            job.run.target
        )));
    };
    let worktree = make_temporary(job, &repository, &key, at)?;
    Ok(Site {
        repository,
        worktree,
        branch: None,
        notes: Vec::new(),
        workspace: None,
        compared: Vec::new(),
    })
}
