//! What happens to a run's work after its agent has ended. Each kind of target has its own file.

mod artifacts;
mod by_products;
mod check_deaths;
mod issue;
mod left_behind;
mod note;
mod phase_checks;
mod phase_merge;
mod plan_phase;
mod plan_refs;
mod put_aside;
mod settings;
mod stray;
mod tampered;
mod temporary;

use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::RunTarget;
use symphony_mcp::StoreThread;
use symphony_store::PhaseFinish;
use symphony_workspace::Repository;

pub(crate) use self::issue::return_to_recorded_head;
use self::issue::settle_issue;
use self::plan_phase::settle_phase;
pub(crate) use self::settings::{note_settings, record_settings};
use self::tampered::end_if_moved;
pub(crate) use self::tampered::record_fingerprint;
use self::temporary::settle_temporary;
use super::Job;
use super::outcome::AgentOutcome;
use super::temporary::temporary_key;
use crate::error::RunnerError;
use crate::process::Supervision;

/// What was found out about a run's work.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// What happened to a plan's phase.
    pub(crate) phase: Option<PhaseFinish>,
}

/// Commits what is left, and checks for tampering and for changes of the configuration that is shared with the user.
pub(crate) async fn settle_work(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    outcome: &mut AgentOutcome,
) -> Result<Settled, RunnerError> {
    let settled = settle_target(job, store, supervision, outcome).await?;
    // After the work is settled, which may find that the run was tampered with: that takes precedence over a moved
    // folder.
    end_if_moved(job, store, outcome).await?;
    note_settings(job, outcome)?;
    Ok(settled)
}

async fn settle_target(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    outcome: &mut AgentOutcome,
) -> Result<Settled, RunnerError> {
    // Its processes have ended: locks that they left in the way of others are noted as theirs from here on.
    Repository::note_locks_since(&job.project.root, job.run.started_at)?;
    if let Some(key) = temporary_key(&job.run) {
        settle_temporary(job, &key, outcome)?;
        return Ok(Settled::default());
    }
    match &job.run.target {
        RunTarget::Issue(id)
        | RunTarget::PullRequest(PullRequestOf::Issue(id), _)
        | RunTarget::Delivery(id, _) => {
            settle_issue(job, store, id, outcome).await?;
            Ok(Settled::default())
        }
        RunTarget::PlanPhase(plan, phase) => {
            let phase = settle_phase(job, store, supervision, plan, phase, outcome).await?;
            Ok(Settled { phase })
        }
        // Its temporary worktree is already removed; gates have their own exit handling.
        RunTarget::Project
        | RunTarget::PullRequest(PullRequestOf::Plan(_), _)
        | RunTarget::Gates(..) => Ok(Settled::default()),
    }
}
