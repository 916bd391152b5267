//! Whether the agent changed configuration that runs programs, or a person moved the project meanwhile.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use symphony_core::failure::ErrorClass;
use symphony_core::run::{RunError, RunStatus, RunTarget};
use symphony_mcp::StoreThread;
use symphony_workspace::{Fingerprint, Repository, WorkspaceError, Worktree};

use crate::error::RunnerError;
use crate::paths::write_private;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// The file with the record.
const FINGERPRINT_FILE: &str = "fingerprint.json";

/// What is recorded at dispatch.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Where the project was; `None` in a record of an earlier version.
    root: Option<PathBuf>,
    fingerprint: Fingerprint,
}

impl Record {
    /// Parses a record, or a fingerprint alone, which earlier versions wrote.
    fn parse(text: &str) -> Option<Self> {
        let alone = || {
            let fingerprint = serde_json::from_str(text).ok()?;
            Some(Self {
                root: None,
                fingerprint,
            })
        };
        serde_json::from_str(text).ok().or_else(alone)
    }
}

/// Takes over what the agent did in a git folder of its own, and ends the run as tampered when that is no git folder any more, or the configuration that runs programs has changed since the dispatch. Nothing in such a
/// worktree may be run or committed before a person has looked at it.
pub(super) fn end_if_tampered(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    outcome: &mut AgentOutcome,
) -> Result<bool, RunnerError> {
    let what = match repository.take_git_folder(worktree) {
        Err(WorkspaceError::Tampered { what, .. }) => Some(what),
        taken => {
            taken?;
            tampered(job, repository, worktree)?
        }
    };
    let Some(what) = what else {
        return Ok(false);
    };
    outcome.status = RunStatus::Tampered;
    outcome.error = Some(RunError {
        class: ErrorClass::Tampered,
        message: what,
    });
    Ok(true)
}

/// Ends an unsuccessful run as moved when the project's folder has moved since its dispatch. Its supervisor and its
/// agent worked with paths that led nowhere, which proves nothing about its task.
pub(super) async fn end_if_moved(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let is_failure = match outcome.status {
        RunStatus::Cancelled | RunStatus::Tampered => false,
        // The calls of its tools were refused, although it may have ended cleanly.
        RunStatus::Succeeded => is_without_pr(job, store).await?,
        _ => true,
    };
    let Some(Ok(before)) = recorded(job)?.filter(|_| is_failure) else {
        return Ok(());
    };
    let root = job.project.root.canonicalize();
    let root = root.unwrap_or_else(|_| job.project.root.clone());
    let Some(from) = before.root.filter(|from| *from != root) else {
        return Ok(());
    };
    if outcome.status == RunStatus::Succeeded {
        outcome.status = RunStatus::Failed;
    }
    outcome.error = Some(RunError {
        class: ErrorClass::Moved,
        message: format!(
            "the project's folder was moved from {} to {} during the run",
            from.display(),
            root.display()
        ),
    });
    Ok(())
}

/// Returns whether a run on an issue opened no pull request.
async fn is_without_pr(job: &Job<'_>, store: &StoreThread) -> Result<bool, RunnerError> {
    let RunTarget::Issue(issue) = job.run.target.clone() else {
        return Ok(false);
    };
    let open = store.call(move |store| store.open_pr(&issue)).await??;
    Ok(open.is_none_or(|pr| pr.run.as_ref() != Some(&job.run.id)))
}

/// Records which configuration runs programs in a worktree, and where the project is.
pub(crate) fn record_fingerprint(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let record = Record {
        root: Some(repository.root().to_owned()),
        fingerprint: repository.fingerprint(worktree)?,
    };
    let text = serde_json::to_string(&record).expect("a record has string keys only");
    write_private(&job.paths.dir.join(FINGERPRINT_FILE), &text)
}

/// Reads the record: `None` when the run did not get as far as its agent, otherwise the record or, if it cannot be
/// read, its path.
fn recorded(job: &Job<'_>) -> Result<Option<Result<Record, PathBuf>>, RunnerError> {
    let path = job.paths.dir.join(FINGERPRINT_FILE);
    match symphony_workspace::read_own_text(&path) {
        Ok(text) => Ok(Some(Record::parse(&text).ok_or(path))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", path, error)),
    }
}

/// Returns what changed in the configuration that runs programs since the dispatch.
fn tampered(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<Option<String>, RunnerError> {
    let before = match recorded(job)? {
        None => return Ok(None),
        Some(Ok(before)) => before,
        Some(Err(path)) => {
            return Ok(Some(format!(
                "the fingerprint of the run was changed ({})",
                path.display()
            )));
        }
    };
    // If the folder was moved, Symphony itself updated the worktree's paths.
    let root = before.root.as_deref().unwrap_or(repository.root());
    let now = repository.fingerprint_seen_from(worktree, root)?;
    let changes = now.changes_since(&before.fingerprint);
    Ok((!changes.is_empty()).then(|| {
        format!(
            "configuration that runs programs was changed: {}",
            changes.join("; ")
        )
    }))
}
