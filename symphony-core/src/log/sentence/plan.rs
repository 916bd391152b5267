//! Sentences about plans and their phases.

use super::quote::quoted;
use crate::id::PlanPhaseId;
use crate::plan::state::{Confirmation, PhaseEvent, PhaseOutcome, PlanEvent, ReleaseCause};
use crate::wording::{counted, error_line};

/// Describes what happened to a plan or one of its phases.
pub(super) fn changed(plan: &str, event: &PlanEvent) -> String {
    match event {
        PlanEvent::Phase { phase, event } => phase_changed(phase, event),
        PlanEvent::Paused => format!("{plan} was paused"),
        PlanEvent::Resumed => format!("{plan} was resumed"),
        PlanEvent::WaitingForDecision => format!("{plan} waits for a decision"),
        PlanEvent::Continued => format!("{plan} continues"),
        PlanEvent::ReviewOpened { pr } => {
            format!("{plan} is in review: pull request {pr} was opened")
        }
        PlanEvent::ReviewRejected { pr } => {
            format!("{plan} waits for a decision: pull request {pr} was not accepted")
        }
        PlanEvent::ReviewResumed { pr } => {
            format!("{plan} is in review again: pull request {pr} was approved")
        }
        PlanEvent::AbortRequested => format!("{plan} was asked to end"),
        PlanEvent::Ended { status, .. } => format!("{plan} ended: {status}"),
        PlanEvent::Reopened => format!("{plan} was reopened"),
        PlanEvent::ChangesAccepted { phases } => format!(
            "{plan} continues with its changed file: {}",
            counted(phases.len() as u64, "phase")
        ),
    }
}

fn phase_changed(phase: &PlanPhaseId, event: &PhaseEvent) -> String {
    let what = match event {
        PhaseEvent::MadeReady => "is ready".to_owned(),
        PhaseEvent::Started { .. } => "started".to_owned(),
        PhaseEvent::Released {
            cause: ReleaseCause::Held,
            ..
        } => "is ready again: its provider is on hold".to_owned(),
        PhaseEvent::Released {
            cause: ReleaseCause::Crashed,
            ..
        } => "is ready again: its supervisor died".to_owned(),
        PhaseEvent::Released {
            cause: ReleaseCause::Silent,
            ..
        } => "is continued: its agent ended without a report".to_owned(),
        PhaseEvent::Released {
            cause: ReleaseCause::Moved,
            ..
        } => "is ready again: the project's folder was moved".to_owned(),
        PhaseEvent::Completed {
            confirmation: Confirmation::Unconfirmed,
            ..
        } => "completed, unconfirmed".to_owned(),
        PhaseEvent::Completed { .. } => "completed".to_owned(),
        PhaseEvent::RetryScheduled { failure, .. } => format!(
            "failed on attempt {} and will be tried again: {}",
            failure.attempt,
            quoted(&error_line(&failure.error))
        ),
        PhaseEvent::PutOff { failure, .. } => format!(
            "could not be prepared and will be tried again: {}",
            quoted(&error_line(&failure.error))
        ),
        PhaseEvent::DecisionAsked { failure, .. } => format!(
            "failed on attempt {} and waits for a decision: {}",
            failure.attempt,
            quoted(&error_line(&failure.error))
        ),
        PhaseEvent::Failed { failure, .. } => format!(
            "failed on attempt {}: {}",
            failure.attempt,
            quoted(&error_line(&failure.error))
        ),
        PhaseEvent::GivenUp { .. } => "failed: no decision was made".to_owned(),
        PhaseEvent::RetriedOnce => "will be tried once more".to_owned(),
        PhaseEvent::Reset => "was reset".to_owned(),
        PhaseEvent::Skipped { .. } => "was skipped".to_owned(),
        PhaseEvent::Aborted { .. } => "was aborted".to_owned(),
        PhaseEvent::Blocked { by, .. } => format!("is blocked: phase {by} will not complete"),
        PhaseEvent::Unblocked => "is no longer blocked".to_owned(),
    };
    format!("Phase {phase} {what}")
}

/// Describes what a phase's agent reported.
pub(super) fn outcome(phase: &PlanPhaseId, outcome: &PhaseOutcome) -> String {
    match outcome {
        PhaseOutcome::Complete => format!("Phase {phase} was reported complete"),
        PhaseOutcome::Unconfirmed => {
            format!("Phase {phase} ended cleanly, and its agent could not report")
        }
        PhaseOutcome::Failed { error } => {
            format!("Phase {phase} was reported failed: {}", quoted(error))
        }
    }
}
