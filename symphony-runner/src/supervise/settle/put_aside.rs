//! Work that came after the handed-in commit: it is saved to a rescue ref, and reported.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use symphony_core::Timestamp;
use symphony_core::left_behind::LeftKind;
use symphony_workspace::{Repository, Worktree};

use super::note::note;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// The file with the rescue refs that existed when a run's exit handling started.
const RESCUES_FILE: &str = "rescues.json";

/// Returns the branch to the recorded head. Later work is not part of the pull request or delivery: it goes to a rescue
/// ref, which the record of the run names.
pub(super) fn put_aside_later_work(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    head: &str,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    // The list is kept until the run has ended: a supervisor that died after the reset would otherwise leave a ref that
    // is never reported.
    let before = rescues_before(job, repository, worktree)?;
    return_to_head(repository, worktree, head)?;
    let mut saved = repository.rescues_of(worktree.key())?;
    saved.retain(|rescue| !before.contains(rescue));
    note(LeftKind::PutAside, saved, outcome);
    Ok(())
}

/// Returns the rescue refs of a worktree that existed when exit handling started. The first call records them, and the
/// file is kept until the run has ended.
pub(super) fn rescues_before(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<BTreeSet<String>, RunnerError> {
    let path = job.paths.dir.join(RESCUES_FILE);
    match symphony_workspace::read_own_text(&path) {
        Ok(text) => return Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(RunnerError::io("read", path, error)),
    }
    let before: BTreeSet<String> = repository.rescues_of(worktree.key())?.into_iter().collect();
    let text = serde_json::to_string(&before).expect("names are text");
    write_private(&path, &text)?;
    Ok(before)
}

/// Returns the branch to the recorded head. Returns the rescue ref with the later work, if there was any.
pub(super) fn return_to_head(
    repository: &Repository,
    worktree: &Worktree,
    head: &str,
) -> Result<Option<String>, RunnerError> {
    let head = RunnerError::commit(head, "the recorded head")?;
    let reset = repository.reset_to(worktree, &head, Timestamp::now())?;
    Ok(reset.rescue.map(|rescue| {
        tracing::info!(%rescue, "work after the recorded head was put aside");
        rescue.reference
    }))
}
