//! What becomes of a run's work when its agent is gone: one file for each kind of target.

mod issue;
mod tampered;

use symphony_core::pull_request::VerifiedGates;
use symphony_core::run::RunTarget;
use symphony_mcp::StoreThread;

use self::issue::settle_issue;
use super::Job;
use super::agent::AgentOutcome;
use crate::error::RunnerError;
use crate::process::Supervision;

/// Commits what is left, runs the gates of a pull request that waits for them, looks for tampering.
pub(crate) async fn settle_work(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    outcome: &mut AgentOutcome,
) -> Result<Option<VerifiedGates>, RunnerError> {
    match &job.run.target {
        RunTarget::Issue(id) | RunTarget::PullRequest(id, _) | RunTarget::Claim(id, _) => {
            settle_issue(job, store, supervision, id, outcome).await
        }
        // nothing of theirs is made in a worktree that has to be settled
        RunTarget::PlanPhase(..) | RunTarget::Project => Ok(None),
    }
}
