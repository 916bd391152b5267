//! What has to be written.

use crate::agent::AgentType;
use crate::id::{DeliveryId, PhaseName, PrId};
use crate::issue::{AttemptCounts, IssueState};
use crate::log::LogEvent;
use crate::retry::RetryPlan;

/// An appointment to dispatch an issue again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appointment {
    /// Who was working.
    pub agent: AgentType,
    /// The attempt that ended.
    pub attempt: u32,
    /// When it is due, and why.
    pub plan: RetryPlan,
}

/// Something to write about one issue.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The issue is in this state now.
    SetState(IssueState),
    /// The issues that depend on it wait for one less: it is done.
    DependencyMet,
    /// The issues that depend on it have one more to wait for: it is no longer done.
    DependencyReopened,
    /// Its retry is removed: it is not in `todo`, or a person takes over.
    RemoveRetry,
    /// What counts towards its circuit breaker.
    SetCounts(AttemptCounts),
    /// How its gates failed so far no longer counts.
    ForgetGateFailures,
    /// Its live run is asked to end.
    EndRuns,
    /// Its open pull request is closed without a merge, with an entry in the log.
    ClosePullRequest(PrId),
    /// Its open delivery is closed without a verdict, with an entry in the log.
    RejectDelivery {
        /// The delivery.
        delivery: DeliveryId,
        /// The reason.
        reason: &'static str,
    },
    /// Its learnings are accepted, dropped or proposed again, as `LearningState::settle` decides.
    SettleLearnings,
    /// The move is recorded with the run that made it.
    RecordMover,
    /// Its label names this phase now.
    EnterPhase(PhaseName),
    /// Its accepted delivery has had its effect.
    CloseDelivery(DeliveryId),
    /// It is dispatched again later.
    Appoint(Appointment),
    /// Symphony comments on it.
    Comment(String),
    /// The log gets an entry.
    Log(LogEvent),
}
