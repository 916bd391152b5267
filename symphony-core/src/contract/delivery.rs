//! What happens to a delivery that was checked.

use super::check::CheckFailure;
use super::model::{PhaseContract, ValidationMode};
use super::pipeline::Skip;

/// What happens to a delivery at the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryDecision {
    /// The phase is delivered; the failures are warnings (mode `trust`).
    Accepted {
        /// What would have been refused in another mode.
        warnings: Vec<CheckFailure>,
    },
    /// A judge decides.
    AwaitingJudge {
        /// Failures that the mode `trust` lets pass, for the judge to see.
        warnings: Vec<CheckFailure>,
    },
    /// Refused; the agent sees why and may deliver again.
    Rejected {
        /// The reasons.
        reasons: Vec<CheckFailure>,
    },
}

/// Decides on a delivery from the outcome of its checks.
///
/// A delivery that skips a phase that a judge would have to approve waits for a judge itself.
pub fn decide_delivery(
    contract: &PhaseContract,
    skip: Option<&Skip>,
    failures: Vec<CheckFailure>,
) -> DeliveryDecision {
    let mode = contract.mode();
    if mode != ValidationMode::Trust && !failures.is_empty() {
        return DeliveryDecision::Rejected { reasons: failures };
    }
    let judged = mode == ValidationMode::Judge || skip.is_some_and(|skip| skip.needs_judge);
    if judged {
        DeliveryDecision::AwaitingJudge { warnings: failures }
    } else {
        DeliveryDecision::Accepted { warnings: failures }
    }
}
