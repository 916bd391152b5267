//! Work of the agent that is not on the branch of its run, for the record of the run.

use symphony_core::Timestamp;
use symphony_core::exit_handling::ExitFault;
use symphony_core::left_behind::{LEFT_BEHIND, LeftBehind, LeftKind};
use symphony_workspace::{BranchName, KnownWork, Repository, RescueRef, StrayWork, Worktree};

use super::note::note;
use super::put_aside::rescues_before;
use super::settings::recorded_state;
use crate::error::RunnerError;
use crate::shared_state::SharedState;
use crate::supervise::Job;
use crate::supervise::outcome::AgentOutcome;

/// Records such work in the outcome. Must be called when the branch is where the run leaves it.
///
/// What an agent did to its worktree may prevent git from looking. Then the run ends as usual.
pub(super) fn note_stray_work(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
    outcome: &mut AgentOutcome,
) -> Result<(), RunnerError> {
    let stray = match find(job, repository, worktree, base) {
        Ok(stray) => stray,
        Err(error) if error.exit_fault() == ExitFault::Machine => return Err(error),
        Err(error) => {
            tracing::warn!(%error, "cannot find out whether the agent worked outside its branch");
            return Ok(());
        }
    };
    let told = put_aside(outcome);
    let names = |rescues: Vec<RescueRef>| -> Vec<String> {
        let names = rescues.into_iter().map(|rescue| rescue.reference);
        names.filter(|name| !told.contains(name)).collect()
    };
    let (unreferenced, stashed) = (names(stray.unreferenced), names(stray.stashed));
    note(
        LeftKind::OtherBranch,
        stray.branches.into_iter().collect(),
        outcome,
    );
    note(LeftKind::Unreferenced, unreferenced, outcome);
    note(LeftKind::Stash, stashed, outcome);
    Ok(())
}

fn find(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
) -> Result<StrayWork, RunnerError> {
    let base = repository.branch_head(base)?;
    let rescues = rescues_before(job, repository, worktree)?;
    let state = recorded_state(job)?;
    let known = KnownWork {
        base: base.as_ref(),
        rescues: &rescues,
        stash: state.as_ref().map(SharedState::stash),
    };
    Ok(repository.stray_work(worktree, known, Timestamp::now())?)
}

/// Returns the rescue refs that are recorded as work after the hand-in.
fn put_aside(outcome: &AgentOutcome) -> Vec<String> {
    let noted = outcome.metadata.get(LEFT_BEHIND).cloned();
    let noted: Vec<LeftBehind> = noted
        .and_then(|noted| serde_json::from_value(noted).ok())
        .unwrap_or_default();
    let aside = noted
        .into_iter()
        .filter(|left| left.kind == LeftKind::PutAside);
    aside.map(|left| left.path).collect()
}
