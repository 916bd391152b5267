//! Whether the agent changed what runs programs.

use symphony_core::failure::ErrorClass;
use symphony_core::run::{RunError, RunStatus};
use symphony_workspace::{Fingerprint, Repository, Worktree};

use crate::error::RunnerError;
use crate::supervise::Job;
use crate::supervise::agent::AgentOutcome;
use crate::supervise::prepare::FINGERPRINT_FILE;

/// Ends the run as tampered when the configuration that runs programs was changed since the dispatch. Nothing of such a
/// worktree may be run or committed: a human looks first.
pub(super) fn end_if_tampered(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    outcome: &mut AgentOutcome,
) -> Result<bool, RunnerError> {
    let Some(what) = tampered(job, repository, worktree)? else {
        return Ok(false);
    };
    outcome.status = RunStatus::Tampered;
    outcome.error = Some(RunError {
        class: ErrorClass::Tampered,
        message: what,
    });
    Ok(true)
}

/// Says what changed in the configuration that runs programs, since the dispatch.
fn tampered(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<Option<String>, RunnerError> {
    let path = job.paths.dir.join(FINGERPRINT_FILE);
    let text = match symphony_workspace::read_own_text(&path) {
        Ok(text) => text,
        // the run did not get as far as its agent
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunnerError::io("read", path, error)),
    };
    let Ok(before) = serde_json::from_str::<Fingerprint>(&text) else {
        return Ok(Some(format!(
            "the fingerprint of the run was changed ({})",
            path.display()
        )));
    };
    let now = repository.fingerprint(worktree)?;
    let changes = now.changes_since(&before);
    Ok((!changes.is_empty()).then(|| {
        format!(
            "configuration that runs programs was changed: {}",
            changes.join("; ")
        )
    }))
}
