//! Sentences about issues and their phases.

use super::quote::quoted;
use crate::contract::DeliveryState;
use crate::id::{DeliveryId, PhaseName};
use crate::issue::{IssueEvent, IssueStatus, NextPhase, TriageOutcome};
use crate::review_point::{AnswerKind, PointNumber, PointState};

/// Describes where an issue moved, and why.
pub(super) fn moved(issue: &str, event: &IssueEvent, from: IssueStatus, to: IssueStatus) -> String {
    let cause = cause(event);
    let colon = if cause.is_empty() { "" } else { ": " };
    if from == to {
        format!("{issue} stayed in {to}{colon}{cause}")
    } else {
        format!("{issue} moved from {from} to {to}{colon}{cause}")
    }
}

/// Describes why an issue moved; empty if its two statuses already say so.
fn cause(event: &IssueEvent) -> String {
    let fixed = match event {
        IssueEvent::Queued | IssueEvent::Shelved | IssueEvent::Cancelled => "",
        IssueEvent::Reopened => "a person reopened it",
        IssueEvent::Dispatched => "an agent started on it",
        IssueEvent::PrCreated => "its pull request was submitted",
        IssueEvent::DoneProposed => "its worker says that nothing is left to do",
        IssueEvent::PhaseDelivered => "its phase waits for a judge",
        IssueEvent::PhaseAccepted {
            next: NextPhase::Follows,
        } => "its phase was accepted",
        IssueEvent::PhaseAccepted {
            next: NextPhase::None,
        } => "its last phase was accepted",
        IssueEvent::RunReturned => "its run ended",
        IssueEvent::HandedBack => "its agent handed it back",
        IssueEvent::SubtasksOpened => "it waits for its sub-tasks",
        IssueEvent::SubtasksClosed => "all its sub-tasks have ended",
        IssueEvent::ReviewRejected => "its review ended without approval",
        IssueEvent::Merged => "its pull request was merged",
        IssueEvent::MergedOutside => "its pull request was merged outside Symphony",
        IssueEvent::Finished => "a person declared it done",
        IssueEvent::DoneConfirmed => "it was confirmed that nothing is left to do",
        IssueEvent::ReviewResumed => "its review resumed",
        IssueEvent::BreakerOpened { reason: None, .. } => {
            "the circuit breaker opened after too many attempts"
        }
        IssueEvent::BreakerOpened {
            reason: Some(reason),
            ..
        } => return format!("the circuit breaker opened early: {}", quoted(reason)),
        IssueEvent::Closed { reason, .. } => {
            return format!("a person closed it: {}", quoted(reason));
        }
        IssueEvent::AgentBlocked { reason } => {
            return format!("its agent cannot continue: {}", quoted(reason));
        }
        IssueEvent::QuestionAsked { reason } => {
            return format!("its agent asks a person: {}", quoted(reason));
        }
        IssueEvent::CapReached { reason }
        | IssueEvent::GatesStopped { reason }
        | IssueEvent::TakenOver { reason }
        | IssueEvent::HostsLost { reason } => {
            return quoted(reason);
        }
        IssueEvent::Tampered { reason } => {
            return match quoted(reason).as_str() {
                "" => "its run changed configuration that runs programs".to_owned(),
                reason => reason.to_owned(),
            };
        }
    };
    fixed.to_owned()
}

/// Describes what intake did with an issue.
pub(super) fn triaged(issue: &str, outcome: TriageOutcome) -> String {
    match outcome {
        TriageOutcome::Changed => format!("Intake triaged {issue} and changed it"),
        TriageOutcome::Unchanged => format!("Intake triaged {issue} and left it as it was"),
    }
}

/// Describes what an agent delivered.
pub(super) fn delivered(
    delivery: DeliveryId,
    phase: &PhaseName,
    state: DeliveryState,
    reasons: &[String],
    on_issue: &str,
) -> String {
    let reasons = quoted(&reasons.join("; "));
    match state {
        DeliveryState::Rejected => {
            format!(
                "Phase {phase}{on_issue} was delivered and refused (delivery {delivery}): {reasons}"
            )
        }
        DeliveryState::Submitted | DeliveryState::Accepted | DeliveryState::AwaitingJudge => {
            format!("Phase {phase}{on_issue} was delivered (delivery {delivery})")
        }
    }
}

/// Describes what happened to a delivery.
pub(super) fn settled(delivery: DeliveryId, state: DeliveryState, commit: &str) -> String {
    let what = match state {
        DeliveryState::Accepted => "was accepted",
        DeliveryState::AwaitingJudge => "waits for a judge",
        DeliveryState::Rejected => "was rejected",
        DeliveryState::Submitted => "was submitted",
    };
    format!("Delivery {delivery} {what} on {commit}")
}

/// Describes what happened to a review point.
pub(super) fn point_moved(point: PointNumber, state: PointState, on: &str) -> String {
    match state {
        PointState::Open => format!("Review point {point}{on} was reopened"),
        PointState::Closed => format!("Review point {point}{on} was closed"),
    }
}

/// Describes the answer to a review point.
pub(super) fn point_answered(point: PointNumber, answer: AnswerKind, on: &str) -> String {
    match answer {
        AnswerKind::Fixed => format!("Review point {point}{on} was answered as fixed"),
        AnswerKind::Declined => format!("Review point {point}{on} was declined"),
        AnswerKind::Question => format!("A question was asked about review point {point}{on}"),
        AnswerKind::Remark => format!("Review point {point}{on} got a reply"),
    }
}
