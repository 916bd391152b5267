//! The worktree of an issue.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::issue::Issue;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_workspace::{
    BaseMerge, BranchFate, Failpoint, MergeOfBase, Prepared as PreparedWorktree, RemoveRequest,
    Repository, WorktreeRequest,
};

use super::set_up::{SetUpSite, copy_config_files, set_up_note};
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
    issue: &Issue,
    merge: BaseMerge,
) -> Result<Site, RunnerError> {
    let place = issue_workspace(&repository, &job.config, &issue.id)?;
    let make = async || make_worktree(job, store, &repository, &place, &issue.id, merge).await;
    let made = make().await?;
    Failpoint::PrepareCopied.reach();
    let site = SetUpSite {
        job,
        supervision,
        repository: &repository,
        place: &place,
    };
    let made = site.set_up(made, make).await?;
    let mut notes = notes(&made.base, place.base.as_str());
    if !job.run.target.is_review() {
        notes.extend(set_up_note(&repository, &made.worktree)?);
    }
    Ok(Site {
        repository,
        worktree: made.worktree,
        branch: Some(place.branch.clone()),
        notes,
        workspace: Some(place),
        compared: Vec::new(),
    })
}

/// Creates the worktree, or takes the existing one, with the project's configuration files. The base is merged in
/// unless that would void a pull request or a delivery.
async fn make_worktree(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    place: &IssueWorkspace,
    issue: &IssueId,
    merge: BaseMerge,
) -> Result<PreparedWorktree, RunnerError> {
    if merge == BaseMerge::Merge {
        set_unknown_aside(job, store, repository, place, issue).await?;
    }
    // Recorded before it is created, so that clean-up will look for it whatever happens.
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
        tracing::info!(?recovery, "repaired the worktree");
    }
    // Every time, because an earlier run may have died in between. Existing files are left unchanged.
    if !job.run.target.is_review() {
        copy_config_files(repository, &made.worktree)?;
    }
    Ok(made)
}

/// Saves and removes a branch that the database does not know, which a lost database left or a person made. The new run
/// must not hand in its commits as work on this issue.
async fn set_unknown_aside(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    place: &IssueWorkspace,
    issue: &IssueId,
) -> Result<(), RunnerError> {
    let id = issue.clone();
    if store
        .call(move |store| store.knows_branch_of(&id))
        .await??
    {
        return Ok(());
    }
    let removed = repository.set_unknown_aside(&RemoveRequest {
        key: &place.key,
        branch: Some(&place.branch),
        base: &place.base,
        fate: BranchFate::Delete,
        now: Timestamp::now(),
    })?;
    // Commits that the base already has are not lost, and no one has to look at them.
    for rescue in removed.into_iter().flat_map(|removed| removed.rescues) {
        tracing::warn!(branch = %place.branch, %rescue, "the database did not know this branch: it was saved");
        let (context, id) = (job.as_run(), issue.clone());
        let branch = place.branch.to_string();
        store
            .call(move |store| {
                store.record_rescued_branch(&context, &id, &branch, &rescue.reference)
            })
            .await??;
    }
    Ok(())
}

fn notes(merge: &MergeOfBase, base: &str) -> Vec<String> {
    match merge {
        MergeOfBase::Conflict(files) => vec![format!(
            "Merging the latest `{base}` into your branch conflicts in: {}. Nothing was merged: rebase onto `{base}` or merge \
             it yourself, resolve the conflicts, and run the whole test suite.",
            files.join(", ")
        )],
        MergeOfBase::BlockedByChanges(files) => vec![format!(
            "The latest `{base}` was not merged into your branch, because uncommitted changes are in the way ({}). Commit \
             them or put them back, then rebase onto `{base}`.",
            files.join(", ")
        )],
        MergeOfBase::Unrelated => vec![format!(
            "The base `{base}` was rewritten and has no commit in common with your branch. Set the status to `blocked` and say \
             so."
        )],
        MergeOfBase::NotAsked | MergeOfBase::UpToDate | MergeOfBase::Merged(_) => Vec::new(),
    }
}
