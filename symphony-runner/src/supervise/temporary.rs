//! Temporary worktrees: detached, for one run, and removed when it ends. The agents of a project itself, intake and the
//! judges of plans work in them. They commit nothing.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_mcp::StoreThread;
use symphony_workspace::{BranchFate, CommitId, RemoveRequest, Repository, Worktree, WorktreeKey};

use super::Job;
use crate::error::RunnerError;
use crate::upkeep::left_worktrees::{MARK, temporary_folders};

/// Returns the key of a run's temporary worktree (`_scanner-<run>`), if it has one.
pub(super) fn temporary_key(run: &Run) -> Option<WorktreeKey> {
    let works_in_one = match &run.target {
        RunTarget::Project => run.agent != AgentType::Gates,
        RunTarget::Issue(_) => run.agent == AgentType::Intake,
        RunTarget::PullRequest(of, _) => of.plan().is_some(),
        RunTarget::Gates(..) | RunTarget::Delivery(..) | RunTarget::PlanPhase(..) => false,
    };
    works_in_one.then(|| WorktreeKey::of(&format!("{MARK}{}-{}", run.agent, run.id)))
}

/// Creates a run's temporary worktree on a commit, or on the latest base.
pub(super) fn make_temporary(
    job: &Job<'_>,
    repository: &Repository,
    key: &WorktreeKey,
    at: Option<&CommitId>,
) -> Result<Worktree, RunnerError> {
    let at = match at {
        Some(at) => at.clone(),
        None => repository.base()?.commit,
    };
    let worktree = repository.create_temporary(key, &at, Timestamp::now())?;
    // The wizard tries the commands that it proposes, which may need files that are not in the repository.
    if job.run.agent == AgentType::Wizard {
        for problem in repository.copy_config_files(&worktree)?.problems {
            let (path, reason) = (problem.path.display(), &problem.reason);
            tracing::warn!(%path, reason, "a configuration file was not copied into the worktree");
        }
    }
    Ok(worktree)
}

/// Removes a temporary worktree. What its agent left in it is saved to a rescue ref first.
pub(super) fn remove_temporary(
    repository: &Repository,
    key: &WorktreeKey,
) -> Result<(), RunnerError> {
    let base = repository.base()?;
    let removed = repository.remove_worktree(&RemoveRequest {
        key,
        branch: None,
        base: &base.branch,
        fate: BranchFate::Keep,
        now: Timestamp::now(),
    })?;
    for rescue in &removed.rescues {
        tracing::info!(%rescue, "what the agent left was put aside");
    }
    Ok(())
}

/// Removes the temporary worktrees of ended runs that could not be removed at their end. One that was tampered with
/// stays for a person to look at.
pub(super) async fn remove_leftovers(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
) -> Result<(), RunnerError> {
    for (key, run) in temporary_folders(&job.config) {
        let id = run.clone();
        let found = store.call(move |store| store.run(&id)).await?;
        let over =
            found.is_ok_and(|run| !run.status.is_live() && run.status != RunStatus::Tampered);
        if over && let Err(error) = remove_temporary(repository, &key) {
            tracing::warn!(%run, %error, "the temporary worktree of an ended run stays for now");
        }
    }
    Ok(())
}
