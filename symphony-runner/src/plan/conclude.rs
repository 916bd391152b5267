//! What is left to do when phases and plans are complete: worktrees are removed, the user's branch gets the work.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::Isolation;
use symphony_core::plan::state::{PhaseState, PlanStatus};
use symphony_store::{Context, PlanRecord, Project, Store};
use symphony_workspace::{
    BranchFate, BranchName, Failpoint, Identity, MergeRequest, MergeStyle, RemoveRequest,
    Repository, WorkspaceError, WorktreeKey,
};

use crate::error::RunnerError;
use crate::repository::open_repository;

/// What became of the work of a plan that has completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// There is nothing to merge: no worktrees, nothing changed, or the plan did not complete.
    Nothing,
    /// The user's branch has it.
    Merged {
        /// That branch.
        branch: String,
        /// Its head now.
        commit: String,
    },
    /// The user's branch was left alone.
    Left {
        /// That branch.
        branch: String,
        /// Why.
        reason: String,
        /// What to type to have it.
        command: String,
    },
}

/// Gives the user's branch the work of a plan that has completed, when nothing stands in the way. Doing it again finds
/// it done.
///
/// # Errors
/// When git or the database fails.
pub(super) fn conclude_plan(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &PlanId,
) -> Result<Conclusion, RunnerError> {
    let record = store.plan(id)?;
    let Some(target) = record
        .target
        .as_ref()
        .filter(|_| record.state.status == PlanStatus::Completed)
    else {
        return Ok(Conclusion::Nothing);
    };
    let repository = open_repository(project, config)?;
    let base = BranchName::of_plan_base(id);
    let branch = BranchName::parse(&target.branch)?;
    let head = repository.branch_head(&base)?;
    if let Some(commit) = &record.merged_commit {
        // who recorded it may have died before
        if head.is_some() {
            remove_base(&repository, id, &branch);
        }
        return Ok(Conclusion::Merged {
            branch: target.branch.clone(),
            commit: commit.clone(),
        });
    }
    let Some(head) = head else {
        // nothing was ever begun, or a person merged it and took the branch away
        store.record_plan_merged(&Context::system(Timestamp::now()), id, &target.base_commit)?;
        return Ok(Conclusion::Nothing);
    };
    let left = |reason: String| Conclusion::Left {
        branch: target.branch.clone(),
        reason,
        command: format!("git merge {base}"),
    };
    let Some(expected) = repository.branch_head(&branch)? else {
        return Ok(left(format!("the branch `{branch}` is gone")));
    };
    let identity = repository
        .human_identity()
        .unwrap_or_else(Identity::symphony);
    let merged = repository.merge_into_base(&MergeRequest {
        base: &branch,
        expected: &expected,
        head: &head,
        style: MergeStyle::Readable,
        message: &format!("Merge plan {id} ({})", record.path),
        identity: &identity,
    });
    match merged {
        Ok(merged) => {
            let commit = merged.commit.as_str().to_owned();
            Failpoint::PlanMerged.reach();
            store.record_plan_merged(&Context::system(Timestamp::now()), id, &commit)?;
            Failpoint::PlanConcluded.reach();
            remove_base(&repository, id, &branch);
            Ok(Conclusion::Merged {
                branch: target.branch.clone(),
                commit,
            })
        }
        Err(
            error @ (WorkspaceError::CheckoutDirty { .. }
            | WorkspaceError::Conflict { .. }
            | WorkspaceError::Unrelated { .. }
            | WorkspaceError::RefMoved { .. }
            | WorkspaceError::Busy { .. }
            | WorkspaceError::GitLocked { .. }),
        ) => Ok(left(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// The plan's own base has served; what can not be removed now does no harm.
fn remove_base(repository: &Repository, id: &PlanId, merged_into: &BranchName) {
    let removed = repository.remove_worktree(&RemoveRequest {
        key: &WorktreeKey::of(&format!("plan-{id}")),
        branch: Some(&BranchName::of_plan_base(id)),
        base: merged_into,
        fate: BranchFate::DeleteIfMerged,
        now: Timestamp::now(),
    });
    if let Err(error) = removed {
        tracing::warn!(%error, "the plan's base branch stays");
    }
}

/// Removes the worktrees of phases that are complete, and their branches when they are merged; a phase that was skipped
/// leaves its branch if something on it was not. Those done before are passed over; returns what could not be removed.
pub(super) fn remove_worktrees(
    project: &Project,
    config: &ProjectConfig,
    record: &PlanRecord,
    done: &mut BTreeSet<PlanPhaseId>,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    if record.options.isolation == Isolation::None {
        return Ok(problems);
    }
    let complete: Vec<&PlanPhaseId> = record
        .state
        .phases
        .iter()
        .filter(|(id, progress)| {
            matches!(progress.state, PhaseState::Complete { .. }) && !done.contains(*id)
        })
        .map(|(id, _)| id)
        .collect();
    if complete.is_empty() {
        return Ok(problems);
    }
    let repository = open_repository(project, config)?;
    let base = merged_into(&repository, record)?;
    for phase in complete {
        let removed = repository.remove_worktree(&RemoveRequest {
            key: &WorktreeKey::of_plan_phase(&record.id, phase),
            branch: Some(&BranchName::of_plan_phase(&record.id, phase)),
            base: &base,
            fate: BranchFate::DeleteIfMerged,
            now: Timestamp::now(),
        });
        match removed {
            Ok(removed) => {
                for rescue in removed.rescues {
                    tracing::info!(%phase, %rescue, "unsaved work was kept");
                }
            }
            // once is enough to say so
            Err(error) => problems.push(format!("{phase}: its worktree stays: {error}")),
        }
        done.insert(phase.clone());
    }
    Ok(problems)
}

/// Returns the branch that has the work of complete phases: the plan's base, or, when that is gone, the user's branch. One that
/// was not removed with its phase would be kept as not merged otherwise.
fn merged_into(repository: &Repository, record: &PlanRecord) -> Result<BranchName, RunnerError> {
    let base = BranchName::of_plan_base(&record.id);
    let target = record.target.as_ref().map(|target| &target.branch);
    match target {
        Some(target) if repository.branch_head(&base)?.is_none() => Ok(BranchName::parse(target)?),
        _ => Ok(base),
    }
}
