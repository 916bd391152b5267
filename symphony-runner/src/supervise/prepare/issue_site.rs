//! The worktree of an issue.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::issue::Issue;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_workspace::{
    BaseMerge, Failpoint, MergeOfBase, Prepared as PreparedWorktree, Repository, WorktreeRequest,
};

use super::set_up::set_up;
use super::site::Site;
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::repository::issue_workspace;
use crate::supervise::Job;

/// Prepares the worktree of an issue.
pub(super) async fn issue_site(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    repository: Repository,
    (issue, merge): (&Issue, BaseMerge),
) -> Result<Site, RunnerError> {
    let place = issue_workspace(&repository, &job.config, &issue.id)?;
    let made = make_worktree(job, store, &repository, &place, (&issue.id, merge)).await?;
    Failpoint::PrepareCopied.reach();
    set_up(job, supervision, &made.worktree).await?;
    Ok(Site {
        repository,
        worktree: made.worktree,
        branch: Some(place.branch.clone()),
        notes: notes(&made.base, place.base.as_str()),
        workspace: Some(place),
    })
}

/// Makes the worktree, or takes the one that is there, with the project's configuration files; the base is merged in unless
/// that would void a pull request or a claim.
async fn make_worktree(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    place: &IssueWorkspace,
    (issue, merge): (&IssueId, BaseMerge),
) -> Result<PreparedWorktree, RunnerError> {
    // recorded before it is made: whatever happens, clean-up will look for it
    let (context, id) = (job.as_run(), issue.clone());
    store
        .call(move |store| store.record_worktree(&context, &id, true))
        .await??;
    Failpoint::WorktreeIntended.reach();
    let made = repository.prepare_worktree(&WorktreeRequest {
        key: &place.key,
        branch: &place.branch,
        base: &place.base,
        merge,
        now: Timestamp::now(),
    })?;
    for recovery in &made.recovered {
        tracing::info!(?recovery, "mended the worktree");
    }
    // every time: an earlier run may have died in between, and what is there is left as it is
    if !job.run.target.is_review() {
        let copied = repository.copy_config_files(&made.worktree)?;
        for problem in &copied.problems {
            let (path, reason) = (problem.path.display(), &problem.reason);
            tracing::warn!(%path, reason, "a configuration file was not copied into the worktree");
        }
    }
    Ok(made)
}

fn notes(merge: &MergeOfBase, base: &str) -> Vec<String> {
    match merge {
        MergeOfBase::Conflict(files) => vec![format!(
            "Merging the latest `{base}` into your branch conflicts in: {}. Nothing was merged. Rebase or merge yourself, \
             resolve the conflicts, and run the whole test suite.",
            files.join(", ")
        )],
        MergeOfBase::BlockedByChanges(files) => vec![format!(
            "The latest `{base}` was not merged into your branch: uncommitted changes are in the way ({}).",
            files.join(", ")
        )],
        MergeOfBase::Unrelated => vec![format!(
            "The base `{base}` was rewritten: it has no commit in common with your branch. Tell a human."
        )],
        MergeOfBase::NotAsked | MergeOfBase::UpToDate | MergeOfBase::Merged(_) => Vec::new(),
    }
}
