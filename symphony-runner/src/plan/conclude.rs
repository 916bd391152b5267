//! What is left to do when phases and plans are complete: worktrees are removed, the work becomes a pull request, and
//! merged plans are cleaned up.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{PlanId, PlanPhaseId, PrId};
use symphony_core::plan::Isolation;
use symphony_core::plan::state::{PhaseState, PlanStatus};
use symphony_core::pull_request::{PrState, PullRequestOf};
use symphony_store::{Context, PlanRecord, PlanTarget, PrFilter, Project, Store};
use symphony_workspace::{
    BranchFate, BranchName, CommitId, Failpoint, RemoveRequest, Repository, WorktreeKey,
};

use super::base::{PlanBase, look_at_base};
use super::lock::PlanLock;
use super::review::{Opened, open_review, renew_review};
use crate::error::RunnerError;
use crate::merge::unpublished::note_saved_submodules;
use crate::repository::{PullRequestPlace, open_repository};

/// What happened to the work of a plan whose phases are all complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// There is nothing to conclude: no worktrees, or phases that are not complete.
    Nothing,
    /// Its pull request is open.
    InReview {
        /// The pull request.
        pr: PrId,
        /// The user's branch, which is its base.
        branch: String,
        /// Whether the plan's branch had moved, so that it is gated and judged again.
        is_renewed: bool,
    },
    /// The user's branch has the work.
    Merged {
        /// That branch.
        branch: String,
        /// Its head now.
        commit: String,
    },
    /// The phases changed nothing that the user's branch does not have already.
    Unchanged {
        /// That branch.
        branch: String,
    },
    /// Work is lost that should be part of the review: a person was asked, and nothing goes on before the answer.
    Asked {
        /// What happened, and the way back.
        reason: String,
    },
    /// The user's branch was left alone.
    Left {
        /// That branch.
        branch: String,
        /// The reason.
        reason: String,
        /// The command that takes the work over.
        command: String,
    },
}

/// Opens the pull request of a plan whose phases are all complete, and cleans up after one that was merged. The caller
/// holds the plan's lock. Idempotent.
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
    let Some(target) = record.target.clone() else {
        return Ok(Conclusion::Nothing);
    };
    if record.state.awaits_review(record.completion()) {
        let repository = open_repository(project, config)?;
        return match open_review(store, &repository, &record, &target)? {
            Opened::PullRequest(pr) => Ok(Conclusion::InReview {
                pr,
                branch: target.branch,
                is_renewed: false,
            }),
            Opened::Lost(lost) => Ok(Conclusion::Asked {
                reason: lost.to_string(),
            }),
            Opened::Nothing => {
                clean_up_merged(store, project, config, id)?;
                Ok(Conclusion::Unchanged {
                    branch: target.branch,
                })
            }
        };
    }
    match (record.state.status, &record.merged_commit) {
        (PlanStatus::Review, _) => {
            let Some(open) = store.open_pr_of(&PullRequestOf::from(id.clone()))? else {
                return Ok(Conclusion::Nothing);
            };
            let repository = open_repository(project, config)?;
            let is_renewed = renew_review(store, &repository, &record, &target, &open)?;
            Ok(Conclusion::InReview {
                pr: open.id,
                branch: target.branch,
                is_renewed,
            })
        }
        (PlanStatus::Completed, Some(commit)) => {
            // Whoever merged it may have died before the clean-up.
            clean_up_merged(store, project, config, id)?;
            Ok(Conclusion::Merged {
                branch: target.branch,
                commit: commit.clone(),
            })
        }
        (PlanStatus::Completed, None) => conclude_old(store, project, config, &record, &target),
        _ => Ok(Conclusion::Nothing),
    }
}

/// A plan that completed before plans had pull requests, and whose work no one merged: it is left as it is.
fn conclude_old(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    record: &PlanRecord,
    target: &PlanTarget,
) -> Result<Conclusion, RunnerError> {
    let repository = open_repository(project, config)?;
    let base = BranchName::of_plan_base(&record.id);
    let branch = repository.branch_head(&BranchName::parse(&target.branch)?)?;
    let merged = match (
        look_at_base(store, &repository, &record.id, target)?,
        branch,
    ) {
        (PlanBase::Unbegun(begin), _) => Some(begin.as_str().to_owned()),
        (PlanBase::At(head), Some(branch)) if repository.is_merged(&head, &branch)? => {
            Some(branch.as_str().to_owned())
        }
        _ => None,
    };
    let Some(commit) = merged else {
        return Ok(Conclusion::Left {
            branch: target.branch.clone(),
            reason: "it completed before plans had pull requests".to_owned(),
            command: format!("git merge {base}"),
        });
    };
    store.record_plan_merged(&Context::system(Timestamp::now()), &record.id, &commit)?;
    clean_up_merged(store, project, config, &record.id)?;
    Ok(Conclusion::Merged {
        branch: target.branch.clone(),
        commit,
    })
}

/// Removes the branches and worktrees of a merged plan; returns what was done, in words. If another process drives the
/// plan at this moment, it does that instead.
///
/// # Errors
/// When git or the database fails.
pub fn clean_up_plan(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &PlanId,
) -> Result<String, RunnerError> {
    let Some(_lock) = PlanLock::take(project, id)? else {
        return Ok(format!(
            "plan {id}: the process that runs it removes its branches"
        ));
    };
    clean_up_merged(store, project, config, id)
}

/// Cleans up while the plan's lock is held. What cannot be removed now does no harm; the next tick tries again.
fn clean_up_merged(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    id: &PlanId,
) -> Result<String, RunnerError> {
    let record = store.plan(id)?;
    let (PlanStatus::Completed, Some(target)) = (record.state.status, &record.target) else {
        return Ok(format!("plan {id} continues"));
    };
    let mut problems = remove_worktrees(store, project, config, &record, &mut BTreeSet::new())?;
    let repository = open_repository(project, config)?;
    let place = PullRequestPlace::of_plan(id);
    let recorded = recorded_head(store, id)?;
    let removed = repository.remove_worktree(&RemoveRequest {
        key: &place.key,
        branch: Some(&place.branch),
        base: &BranchName::parse(&target.branch)?,
        fate: recorded
            .as_ref()
            .map_or(BranchFate::DeleteIfMerged, BranchFate::DeleteIfRecorded),
        now: Timestamp::now(),
    });
    match removed {
        Ok(removed) => note_saved_submodules(store, &project.id, &id.clone().into(), &removed)?,
        Err(error) => problems.push(format!("its base branch was not removed: {error}")),
    }
    Failpoint::CleanUnrecorded.reach();
    if problems.is_empty() {
        store.record_plan_cleaned(&Context::system(Timestamp::now()), id)?;
        return Ok(format!("plan {id}: its branches and worktrees are removed"));
    }
    Ok(format!("plan {id}: {}", problems.join("; ")))
}

/// Returns the head of the plan's newest merged pull request: what the user's branch has according to the record.
fn recorded_head(store: &Store, id: &PlanId) -> Result<Option<CommitId>, RunnerError> {
    let filter = PrFilter {
        plan: Some(id.clone()),
        state: Some(PrState::Merged),
        ..PrFilter::default()
    };
    let newest = store.prs(&filter)?.into_iter().next();
    Ok(newest.and_then(|pr| CommitId::parse(&pr.head_commit).ok()))
}

/// Removes the worktrees of complete phases, and their branches if they are merged; a skipped phase keeps its branch if
/// something on it is not merged. Phases in `done` are skipped; returns what could not be removed.
pub(super) fn remove_worktrees(
    store: &mut Store,
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
                note_saved_submodules(store, &project.id, &record.id.clone().into(), &removed)?;
                for rescue in removed.rescues {
                    tracing::info!(%phase, %rescue, "unsaved work was kept");
                }
            }
            // Reported only once: the phase counts as done.
            Err(error) => problems.push(format!("{phase}: its worktree was not removed: {error}")),
        }
        done.insert(phase.clone());
    }
    Ok(problems)
}

/// Returns the branch that has the work of complete phases: the plan's base, or, if that is gone, the user's branch.
/// Without it, a branch that was not removed with its phase would be kept as unmerged.
fn merged_into(repository: &Repository, record: &PlanRecord) -> Result<BranchName, RunnerError> {
    let base = BranchName::of_plan_base(&record.id);
    let target = record.target.as_ref().map(|target| &target.branch);
    match target {
        Some(target) if repository.branch_head(&base)?.is_none() => Ok(BranchName::parse(target)?),
        _ => Ok(base),
    }
}
