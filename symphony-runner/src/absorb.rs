//! Absorbs the files of nested repositories into a worktree because a person asks for it (`--absorb`).

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, PlanId, PlanPhaseId};
use symphony_store::{Project, RunFilter, Store};
use symphony_workspace::{Absorbed, BranchName, WorkspaceError, WorktreeKey};

use crate::error::RunnerError;
use crate::repository::{issue_workspace, open_repository};

/// Turns the nested repositories in the worktree of an issue into plain files, and commits them.
///
/// # Errors
/// When a run is working there, the issue has no worktree, or git fails.
pub fn absorb_for_issue(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    issue: &IssueId,
) -> Result<Vec<Absorbed>, RunnerError> {
    let live = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    refuse_live(store, &live, issue.as_str())?;
    let place = issue_workspace(&open_repository(project, config)?, config, issue)?;
    let (key, branch) = (&place.key, &place.branch);
    absorb(project, config, key, branch, &place.base, issue.as_str())
}

/// Turns the nested repositories in the worktree of a plan's phase into plain files, and commits them.
///
/// # Errors
/// As [`absorb_for_issue`].
pub fn absorb_for_phase(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<Vec<Absorbed>, RunnerError> {
    let live = RunFilter {
        plan: Some(plan.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    refuse_live(store, &live, plan.as_str())?;
    let key = WorktreeKey::of_plan_phase(plan, phase);
    let branch = BranchName::of_plan_phase(plan, phase);
    let base = BranchName::of_plan_base(plan);
    let name = format!("{plan}/{phase}");
    absorb(project, config, &key, &branch, &base, &name)
}

/// Refuses to touch a worktree that an agent may be writing to.
fn refuse_live(store: &Store, live: &RunFilter, name: &str) -> Result<(), RunnerError> {
    match store.runs(live)?.first() {
        None => Ok(()),
        Some(run) => Err(RunnerError::RunIsLive {
            run: run.id.clone(),
            name: name.to_owned(),
        }),
    }
}

fn absorb(
    project: &Project,
    config: &ProjectConfig,
    key: &WorktreeKey,
    branch: &BranchName,
    base: &BranchName,
    name: &str,
) -> Result<Vec<Absorbed>, RunnerError> {
    let repository = open_repository(project, config)?;
    let worktree = match repository.worktree(key, Some(branch)) {
        Ok(worktree) => worktree,
        Err(WorkspaceError::WorktreeMissing { .. }) => {
            return Err(RunnerError::refused(format!(
                "{name} has no worktree, so there is nothing to absorb"
            )));
        }
        Err(error) => return Err(error.into()),
    };
    let base = repository.branch_head(base)?;
    let now = Timestamp::now();
    let absorbed = repository.absorb_nested(&worktree, base.as_ref(), now)?;
    if !absorbed.is_empty() {
        let message = format!("symphony({name}): the files of a nested repository");
        repository.auto_commit(&worktree, &message, now)?;
    }
    Ok(absorbed)
}

/// Describes what was absorbed, in a sentence.
pub fn absorbed_text(absorbed: &[Absorbed]) -> String {
    if absorbed.is_empty() {
        return "There is no nested repository to absorb.".to_owned();
    }
    let one = |absorbed: &Absorbed| match absorbed.rescues.as_slice() {
        [] => format!("{} (it had no commits)", absorbed.path),
        [rescue] => format!("{} (its history is in {rescue})", absorbed.path),
        [rescue, more @ ..] => format!(
            "{} (its history is in {rescue} and {} more)",
            absorbed.path,
            more.len()
        ),
    };
    let all: Vec<String> = absorbed.iter().map(one).collect();
    format!("Absorbed {}.", all.join(", "))
}
