//! Worktrees of phases that no one works on: their plan has ended without them.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_store::{Project, Store};
use symphony_workspace::{BranchFate, BranchName, RemoveRequest, WorktreeKey};

use super::lock::PlanLock;
use crate::error::RunnerError;
use crate::merge::unpublished::note_saved_submodules;
use crate::repository::open_repository;

/// Lists the phases of ended plans whose worktrees still exist.
///
/// # Errors
/// When git or the database fails.
pub fn ended_phase_worktrees(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
) -> Result<Vec<(PlanId, PlanPhaseId)>, RunnerError> {
    let listed = open_repository(project, config)?.list_worktrees()?;
    let keys: BTreeSet<String> = listed.into_iter().map(|worktree| worktree.name).collect();
    let mut found = Vec::new();
    for plan in store.plans(Some(&project.id))? {
        // Most plans have none: these are not loaded.
        let prefix = format!("plan-{}.", plan.id);
        let is_there = keys.iter().any(|key| key.starts_with(&prefix));
        if !plan.status.is_ended() || !is_there {
            continue;
        }
        let phases = store.plan(&plan.id)?.state.phases.into_keys();
        found.extend(
            phases
                .filter(|phase| keys.contains(WorktreeKey::of_plan_phase(&plan.id, phase).as_str()))
                .map(|phase| (plan.id.clone(), phase)),
        );
    }
    Ok(found)
}

/// Removes the worktree of a phase whose plan has ended. What its agents committed stays on its branch, for a person or
/// another attempt; uncommitted work is saved first. Returns what was done, in words; `None` if the plan was resumed
/// meanwhile.
///
/// # Errors
/// When git or the database fails.
pub fn clean_up_phase(
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<Option<String>, RunnerError> {
    let Some(_lock) = PlanLock::take(project, plan)? else {
        return Ok(None);
    };
    if !store.plan(plan)?.state.status.is_ended() {
        return Ok(None);
    }
    let branch = BranchName::of_plan_phase(plan, phase);
    let removed = open_repository(project, config)?.remove_worktree(&RemoveRequest {
        key: &WorktreeKey::of_plan_phase(plan, phase),
        branch: Some(&branch),
        base: &BranchName::of_plan_base(plan),
        fate: BranchFate::DeleteIfMerged,
        now: Timestamp::now(),
    })?;
    note_saved_submodules(store, &project.id, &plan.clone().into(), &removed)?;
    let rescues: Vec<String> = removed.rescues.iter().map(ToString::to_string).collect();
    let saved = match rescues.as_slice() {
        [] => String::new(),
        saved => format!("; unsaved work is at {}", saved.join(", ")),
    };
    Ok(Some(format!(
        "removed the worktree of phase {phase} of plan {plan}{saved}"
    )))
}
