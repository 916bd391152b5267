//! What the consequences of a change depend on.

use super::effect::Effect;
use crate::contract::Delivery;
use crate::id::PrId;
use crate::issue::{AttemptCounts, IssueState};

/// Whether a run is live on an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveRun {
    /// One is.
    Yes,
    /// There is none, or it ends with this change.
    No,
}

/// In whose name an issue is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A person, or Symphony itself.
    Other,
    /// A run: it is recorded that the run moved an issue, because that is what its end is judged by.
    Run,
}

/// The open delivery on the phase of an issue.
pub type OpenDelivery = Delivery;

/// An issue with what is open on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueFacts {
    /// Where it is.
    pub state: IssueState,
    /// What counts towards its circuit breaker.
    pub counts: AttemptCounts,
    /// Its open pull request.
    pub pull_request: Option<PrId>,
    /// Its open delivery.
    pub delivery: Option<OpenDelivery>,
    /// Whether a run is live on it.
    pub live_run: LiveRun,
}

impl IssueFacts {
    /// Applies an effect to the facts. Effects decided later in the same cascade start from the facts after it.
    pub fn take(&mut self, effect: &Effect) {
        match effect {
            Effect::SetState(state) => self.state = state.clone(),
            Effect::SetCounts(counts) => self.counts = *counts,
            Effect::ClosePullRequest(_) => self.pull_request = None,
            Effect::RejectDelivery { .. } | Effect::CloseDelivery(_) => self.delivery = None,
            Effect::DependencyMet
            | Effect::DependencyReopened
            | Effect::RemoveRetry
            | Effect::ForgetGateFailures
            | Effect::EndRuns
            | Effect::SettleLearnings
            | Effect::RecordMover
            | Effect::EnterPhase(_)
            | Effect::Appoint(_)
            | Effect::Comment(_)
            | Effect::Log(_) => {}
        }
    }

    /// Returns the open delivery when it is accepted and the issue has not gone on to its next phase.
    pub(super) fn delivery_to_step(&self) -> Option<OpenDelivery> {
        self.delivery.clone().filter(Delivery::awaits_step)
    }
}
