//! Branches of a plan that moved while one of its phases was running, and that neither Symphony nor the agent of their
//! own phase moved.
//!
//! They are Symphony's own branches, so the report on the person's branches leaves them out. Nothing is moved back: a
//! phase's work is what its worktree has, and everything on the plan's base goes through the checks of the next merge,
//! and the gates and the review of the plan's pull request.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::id::PlanPhaseId;
use symphony_core::left_behind::LeftKind;
use symphony_core::plan::state::PhaseStatus;
use symphony_core::shared_refs::SharedRefs;
use symphony_mcp::StoreThread;
use symphony_store::{PlanRecord, RunFilter};
use symphony_workspace::{BranchName, CommitId, Repository, WorkspaceError, WorktreeKey};

use super::note::note;
use super::settings::recorded_state;
use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// The file in a run's folder with the commit that its exit handling was about to move the plan's base to.
pub(super) const CANDIDATE_FILE: &str = "base-candidate.txt";

/// Records such branches in the outcome. Must be called before anything of the phase is committed or merged.
pub(super) async fn note_moved_branches(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    plan: &PlanRecord,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let Some(before) = recorded_state(job)? else {
        return Ok(());
    };
    let before = before.refs();
    let now = repository.shared_refs()?;
    let base = BranchName::of_plan_base(&plan.id).reference();
    let Some(prefix) = base.strip_suffix("base") else {
        return Ok(());
    };
    let mut explained = left_by_their_worktrees(repository, plan, &now)?;
    // Read after the refs, so that whatever another phase merged in between is already recorded.
    for branch in removed_when_complete(store, plan).await? {
        explained.entry(branch).or_default().insert(None);
    }
    let places = places_of_base(job, store, repository, plan, now.refs.get(&base)).await?;
    explained.insert(base.clone(), places.into_iter().map(Some).collect());
    let moved = repository.unexplained_moves(before, &now, prefix, &explained)?;
    note(LeftKind::Ref, moved, outcome);
    Ok(())
}

/// Returns where the worktree of each phase left its branch.
fn left_by_their_worktrees(
    repository: &Repository,
    plan: &PlanRecord,
    now: &SharedRefs,
) -> Result<BTreeMap<String, BTreeSet<Option<String>>>, RunnerError> {
    let mut explained = BTreeMap::new();
    for phase in &plan.document.phases {
        // The document was checked before the plan started.
        let Ok(id) = PlanPhaseId::parse(&phase.id) else {
            continue;
        };
        let branch = BranchName::of_plan_phase(&plan.id, &id);
        let key = WorktreeKey::of_plan_phase(&plan.id, &id);
        let logged = match repository.worktree(&key, Some(&branch)) {
            Ok(worktree) => repository.logged_head(&worktree)?,
            // Without a worktree no one works there, and the branch may be removed.
            Err(WorkspaceError::WorktreeMissing { .. }) => {
                now.refs.get(&branch.reference()).cloned()
            }
            Err(error) => return Err(error.into()),
        };
        explained.insert(branch.reference(), logged.into_iter().map(Some).collect());
    }
    Ok(explained)
}

/// Returns the branches that Symphony removes, by whoever has the plan's next round: those of the phases that are complete now, whose
/// commits the base has.
async fn removed_when_complete(
    store: &StoreThread,
    plan: &PlanRecord,
) -> Result<Vec<String>, RunnerError> {
    let id = plan.id.clone();
    let now = store
        .call(move |store| Ok::<_, RunnerError>(store.plan(&id)?))
        .await??;
    let phases = now.state.phases.iter();
    let complete = phases.filter(|(_, phase)| phase.status() == PhaseStatus::Complete);
    Ok(complete
        .map(|(phase, _)| BranchName::of_plan_phase(&plan.id, phase).reference())
        .collect())
}

/// Returns the known heads of the plan's base, including `found` if the recorded head has it.
async fn places_of_base(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    plan: &PlanRecord,
    found: Option<&String>,
) -> Result<BTreeSet<String>, RunnerError> {
    let id = plan.id.clone();
    let live = RunFilter {
        plan: Some(id.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    let (recorded, runs) = store
        .call(move |store| Ok::<_, RunnerError>((store.plan_base_head(&id)?, store.runs(&live)?)))
        .await??;
    let mut places = BTreeSet::new();
    for run in runs {
        let file = RunPaths::new(&job.project.root, &run.id)
            .dir
            .join(CANDIDATE_FILE);
        if let Ok(text) = symphony_workspace::read_own_text(&file) {
            places.insert(text.trim().to_owned());
        }
    }
    let commit = |text: &String| CommitId::parse(text).ok();
    if let (Some(found), Some(recorded)) =
        (found.and_then(commit), recorded.as_ref().and_then(commit))
        && repository.is_merged(&found, &recorded)?
    {
        places.insert(found.to_string());
    }
    Ok(places)
}
