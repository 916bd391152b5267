//! Why a plan, or its pull request, is not changed.

use symphony_core::id::{PlanId, PrId, RunId};
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::PrState;

/// What is refused about a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum PlanRefusal {
    /// Another plan of the same file is under way.
    #[error("plan {other} of {path} is under way, and a file can have only one plan at a time")]
    UnderWay {
        path: String,
        other: PlanId,
        /// The plan that was to continue; none where one was to begin.
        waiting: Option<PlanId>,
    },
    /// Its phases have nothing for a pull request.
    #[error("plan {plan} is `{status}`, so it has no work for a pull request")]
    NothingToReview { plan: PlanId, status: PlanStatus },
    /// A later pull request has taken the place of this one.
    #[error(
        "pull request {pr} no longer represents plan {plan}: pull request {newest} has replaced it"
    )]
    Replaced {
        pr: PrId,
        plan: PlanId,
        newest: PrId,
    },
    /// The plan has other work now than its pull request had.
    #[error("plan {plan} has continued since pull request {pr} was {state}")]
    HasContinued {
        plan: PlanId,
        pr: PrId,
        state: PrState,
    },
    /// No pull request of it is open.
    #[error("plan {0} has no open pull request")]
    NoOpenPullRequest(PlanId),
    /// The run works on something else than a phase.
    #[error("run {0} works on no phase of a plan")]
    NoPhase(RunId),
}
