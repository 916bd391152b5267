//! Removes the worktree of an ended issue (spec: lifecycle, "Cleaning up").

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PrState;
use symphony_store::{Context, PrFilter, Project, Store};
use symphony_workspace::{
    BranchFate, BranchName, BranchOutcome, CommitId, Failpoint, RemoveRequest, Removed, WorktreeKey,
};

use crate::error::RunnerError;
use crate::merge::gates::{merge_worktree_is_left, remove_merge_worktree};
use crate::merge::unpublished::note_saved_submodules;
use crate::repository::open_repository;
use crate::resume::remove_sessions_of;
use crate::upkeep::kept_documents::settle_kept;

/// Removes an issue's worktree and its branch. Unmerged commits are saved to a rescue ref first.
///
/// # Errors
/// When it cannot be removed safely. Then nothing was removed.
pub fn give_up_branch(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &IssueId,
) -> Result<String, RunnerError> {
    clean_up_with(store, project, config, id, Some(BranchFate::Delete))
}

/// Removes an issue's worktree, and its branch if no work is lost with it. Returns a message about what was done.
///
/// # Errors
/// When it cannot be removed safely. Then nothing was removed.
pub fn clean_up(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &IssueId,
) -> Result<String, RunnerError> {
    clean_up_with(store, project, config, id, None)
}

fn clean_up_with(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &IssueId,
    fate: Option<BranchFate<'_>>,
) -> Result<String, RunnerError> {
    let issue = store.issue(id)?;
    let status = issue.state.status();
    if !status.is_terminal() {
        let issue = issue.id;
        return Err(RunnerError::Reopened { issue, status });
    }
    let repository = open_repository(project, config)?;
    let base = repository.base()?;
    let give_up =
        issue.state.status() == IssueStatus::Cancelled && store.branch_deletion_requested(id)?;
    let branch = BranchName::of_issue(id);
    if merge_worktree_is_left(&repository, id)? {
        remove_merge_worktree(&repository, id, &base.branch)?;
    }
    let recorded = recorded_merge(store, id)?;
    let removed = repository.remove_worktree(&RemoveRequest {
        key: &WorktreeKey::of(id.as_str()),
        branch: Some(&branch),
        base: &base.branch,
        fate: match (fate, &recorded) {
            (Some(fate), _) => fate,
            (None, _) if give_up => BranchFate::Delete,
            (None, Some(head)) => BranchFate::DeleteIfRecorded(head),
            (None, None) => BranchFate::DeleteIfMerged,
        },
        now: Timestamp::now(),
    })?;
    note_saved_submodules(store, &project.id, &id.clone().into(), &removed)?;
    // No agent gets its documents any longer, unless sub-tasks still need them.
    let needed = store
        .needed_documents(&project.id)
        .map_err(RunnerError::from);
    let settled = needed.and_then(|needed| settle_kept(store, &repository, &needed));
    if let Err(error) = settled {
        tracing::warn!(issue = %id, %error, "commits of documents were not released");
    }
    if let Err(error) = remove_sessions_of(&project.root, id) {
        tracing::warn!(issue = %id, %error, "the daily clean-up removes the sessions");
    }
    Failpoint::CleanUnrecorded.reach();
    // Last: after a death in between, the next tick finds the worktree still recorded, and removes what is left.
    store.record_worktree(&Context::system(Timestamp::now()), id, false)?;
    Ok(describe(id, &branch, &base.branch, &removed))
}

/// Returns the head of the issue's newest merged pull request, which is recorded as part of the base.
pub(crate) fn recorded_merge(store: &Store, id: &IssueId) -> Result<Option<CommitId>, RunnerError> {
    let filter = PrFilter {
        issue: Some(id.clone()),
        state: Some(PrState::Merged),
        ..PrFilter::default()
    };
    let merged = store.prs(&filter)?.into_iter().max_by_key(|pr| pr.id);
    Ok(merged.and_then(|pr| CommitId::parse(&pr.head_commit).ok()))
}

fn describe(id: &IssueId, branch: &BranchName, base: &BranchName, removed: &Removed) -> String {
    let worktree = if removed.worktree {
        "worktree removed"
    } else {
        "it had no worktree"
    };
    let mut parts = vec![format!("{id}: {worktree}")];
    match &removed.branch {
        BranchOutcome::Kept { unmerged } => {
            parts.push(format!(
                "branch {branch} kept: {unmerged} of its commits are not in {base}"
            ));
        }
        BranchOutcome::Absent => {}
        BranchOutcome::Deleted { .. } => parts.push(format!("branch {branch} deleted")),
    }
    parts.extend(
        removed
            .rescues
            .iter()
            .map(|rescue| format!("unsaved work kept in {rescue}")),
    );
    parts.extend(removed.submodules.iter().map(|saved| {
        format!(
            "commits of submodule {} kept in {}",
            saved.name, saved.rescue
        )
    }));
    parts.join(", ")
}
