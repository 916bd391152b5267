//! The work on an issue: committed, or put aside after a pull request.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_workspace::{CommitId, Repository, Worktree, work_in_progress};

use super::by_products::note_by_products;
use super::left_behind::note_left_behind;
use super::tampered::end_if_tampered;
use crate::error::RunnerError;
use crate::repository::{issue_workspace, open_repository};
use crate::supervise::Job;
use crate::supervise::agent::AgentOutcome;

/// Settles the worktree of an issue. A judge's run leaves nothing: it only reads.
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
    if end_if_tampered(job, &repository, &worktree, outcome)? || job.run.target.is_review() {
        return Ok(());
    }
    let id = issue.clone();
    let open = store.call(move |store| store.open_pr(&id)).await??;
    let Some(pr) = open.filter(|pr| pr.run.as_ref() == Some(&job.run.id)) else {
        match claimed_head(job, store, issue).await? {
            Some(head) => return_to_head(&repository, &worktree, &head)?,
            None => auto_commit(&repository, &worktree, issue)?,
        }
        note_by_products(&repository, &worktree, &place.base, outcome);
        note_left_behind(&repository, &worktree, &place.base, outcome)?;
        return Ok(());
    };
    return_to_head(&repository, &worktree, &pr.head_commit)?;
    note_by_products(&repository, &worktree, &place.base, outcome);
    note_left_behind(&repository, &worktree, &place.base, outcome)
}

/// The worktree of an issue, when it was made.
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

/// The commit of the claim that this run made and that still stands.
async fn claimed_head(
    job: &Job<'_>,
    store: &StoreThread,
    issue: &IssueId,
) -> Result<Option<String>, RunnerError> {
    let id = issue.clone();
    let open = store.call(move |store| store.open_claim(&id)).await??;
    let own = open.filter(|claim| claim.run.as_ref() == Some(&job.run.id));
    Ok(own.and_then(|claim| claim.head_commit))
}

/// Makes sure that an issue's branch is at the head that its pull request recorded: when git died in the exit handling of
/// the run that opened it, work that came later is still on the branch, and a merge would be refused.
///
/// # Errors
/// When git fails again: whoever asked tries again later.
pub(crate) fn return_to_recorded_head(
    job: &Job<'_>,
    repository: &Repository,
    issue: &IssueId,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let place = issue_workspace(repository, &job.config, issue)?;
    let Some(worktree) = find_worktree(repository, &place)? else {
        return Ok(());
    };
    if repository.branch_head(&place.branch)?.as_ref() == Some(head) {
        return Ok(());
    }
    return_to_head(repository, &worktree, head.as_str())
}

/// What came after the pull request or the claim is not part of it: it goes to a rescue ref, the branch back to the
/// recorded head.
fn return_to_head(
    repository: &Repository,
    worktree: &Worktree,
    head: &str,
) -> Result<(), RunnerError> {
    let head = CommitId::parse(head)
        .map_err(|error| RunnerError::refused(format!("the recorded head `{head}`: {error}")))?;
    let reset = repository.reset_to(worktree, &head, Timestamp::now())?;
    if let Some(rescue) = reset.rescue {
        tracing::info!(%rescue, "work after the recorded head was put aside");
    }
    Ok(())
}
