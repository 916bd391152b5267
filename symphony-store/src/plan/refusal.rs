//! Why a plan, or its pull request, is not changed.

use symphony_core::id::{PlanId, PrId, RunId};
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::PrState;

/// What is refused about a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRefusal {
    /// Another plan of the same file is under way.
    #[error("plan {other} of {path} is under way, and a file has one plan at a time")]
    UnderWay {
        /// The file.
        path: String,
        /// The plan that is under way.
        other: PlanId,
        /// The plan that was to continue; none where one was to begin.
        waiting: Option<PlanId>,
    },
    /// Its phases have nothing for a pull request.
    #[error("plan {plan} is `{status}`: it has no work for a pull request now")]
    NothingToReview {
        /// The plan.
        plan: PlanId,
        /// Its status.
        status: PlanStatus,
    },
    /// A later pull request has taken the place of this one.
    #[error(
        "pull request {pr} no longer represents plan {plan}: pull request {newest} has replaced it"
    )]
    Replaced {
        /// The pull request.
        pr: PrId,
        /// The plan.
        plan: PlanId,
        /// The later one.
        newest: PrId,
    },
    /// The plan has other work now than its pull request had.
    #[error("plan {plan} has continued since pull request {pr} was {state}")]
    HasContinued {
        /// The plan.
        plan: PlanId,
        /// The pull request.
        pr: PrId,
        /// How that ended.
        state: PrState,
    },
    /// No pull request of it is open.
    #[error("plan {0} has no open pull request")]
    NoOpenPullRequest(PlanId),
    /// The run works on something else than a phase.
    #[error("run {0} works on no phase of a plan")]
    NoPhase(RunId),
}
