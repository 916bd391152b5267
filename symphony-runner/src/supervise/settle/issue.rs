//! The work on an issue: committed, or put aside if it came after a pull request.

use serde_json::json;
use symphony_core::Timestamp;
use symphony_core::hand_in::HEAD_AT_END;
use symphony_core::id::IssueId;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_workspace::{BranchName, CommitId, Repository, Worktree, work_in_progress};

use super::by_products::note_by_products;
use super::left_behind::note_left_behind;
use super::put_aside::{put_aside_later_work, rescues_before, return_to_head};
use super::stray::note_stray_work;
use super::tampered::end_if_tampered;
use crate::error::RunnerError;
use crate::repository::{issue_workspace, open_repository};
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// Settles the worktree of an issue. A judge's run leaves nothing, since it only reads.
pub(super) async fn settle_issue(
    job: &Job<'_>,
    store: &StoreThread,
    issue: &IssueId,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let repository = open_repository(&job.project, &job.config)?;
    let place = issue_workspace(&repository, &job.config, issue)?;
    let Some(worktree) = find_worktree(&repository, &place)? else {
        return Ok(());
    };
    // Before anything else: in a worktree that was tampered with, git itself could run what the agent planted.
    if end_if_tampered(job, &repository, &worktree, outcome)? || job.run.target.is_review() {
        return Ok(());
    }
    // Before the first rescue is made: only what is not on this list was made by this exit handling, and is reported
    // with the run.
    rescues_before(job, &repository, &worktree)?;
    let id = issue.clone();
    let open = store.call(move |store| store.open_pr(&id)).await??;
    let Some(pr) = open.filter(|pr| pr.run.as_ref() == Some(&job.run.id)) else {
        match delivered_head(job, store, issue).await? {
            Some(head) => {
                put_aside_later_work(job, &repository, &worktree, &head, outcome)?;
            }
            None => auto_commit(&repository, &worktree, issue)?,
        }
        let head = repository.head(&worktree)?;
        outcome
            .metadata
            .insert(HEAD_AT_END.to_owned(), json!(head.as_str()));
        return note_all(job, &repository, &worktree, &place.base, outcome);
    };
    put_aside_later_work(job, &repository, &worktree, &pr.head_commit, outcome)?;
    note_all(job, &repository, &worktree, &place.base, outcome)
}

/// Records what of the agent's work is not, or should not be, in what it handed in.
fn note_all(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    note_by_products(repository, worktree, base, outcome);
    note_stray_work(job, repository, worktree, base, outcome)?;
    note_left_behind(repository, worktree, base, outcome)
}

/// Returns the worktree of an issue, if it exists.
fn find_worktree(
    repository: &Repository,
    place: &IssueWorkspace,
) -> Result<Option<Worktree>, RunnerError> {
    use symphony_workspace::WorkspaceError;
    match repository.worktree(&place.key, Some(&place.branch)) {
        Ok(worktree) => Ok(Some(worktree)),
        Err(WorkspaceError::WorktreeMissing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn auto_commit(
    repository: &Repository,
    worktree: &Worktree,
    issue: &IssueId,
) -> Result<(), RunnerError> {
    let done = repository.auto_commit(
        worktree,
        &work_in_progress(issue.as_str()),
        Timestamp::now(),
    )?;
    if let Some(commit) = done.commit {
        tracing::info!(%commit, "committed what the agent left");
    }
    Ok(())
}

/// Returns the commit of this run's delivery, if that is still open.
async fn delivered_head(
    job: &Job<'_>,
    store: &StoreThread,
    issue: &IssueId,
) -> Result<Option<String>, RunnerError> {
    let id = issue.clone();
    let open = store.call(move |store| store.open_delivery(&id)).await??;
    let own = open.filter(|claim| claim.run.as_ref() == Some(&job.run.id));
    Ok(own.and_then(|claim| claim.head_commit))
}

/// Returns an issue's branch to the head that its pull request recorded. If git died in the exit handling of the run
/// that opened it, later work is still on the branch, and a merge would be refused. Returns the rescue ref with that
/// work.
///
/// # Errors
/// When git fails again. The caller tries again later.
pub(crate) fn return_to_recorded_head(
    job: &Job<'_>,
    repository: &Repository,
    issue: &IssueId,
    head: &CommitId,
) -> Result<Option<String>, RunnerError> {
    let place = issue_workspace(repository, &job.config, issue)?;
    let Some(worktree) = find_worktree(repository, &place)? else {
        return Ok(None);
    };
    if repository.branch_head(&place.branch)?.as_ref() == Some(head) {
        return Ok(None);
    }
    return_to_head(repository, &worktree, head.as_str())
}
