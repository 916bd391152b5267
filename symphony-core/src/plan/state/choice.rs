//! What a person can order.

use crate::Timestamp;

use super::apply::allowed_for_phase;
use super::error::PlanTransitionError;
use super::event::{PhaseEvent, PlanEvent};
use super::phase_state::{PhaseProgress, PhaseStatus};
use super::plan_state::{PlanState, PlanStatus};
use crate::closed_set::closed_set;
use crate::id::PlanPhaseId;
use crate::plan::artifact::{Artifact, ArtifactKind};
use crate::plan::graph::Dag;

closed_set!(
    /// The four answers to a phase that awaits a decision.
    Choice, "choice", {
        /// One more attempt.
        RetryOnceMore = "retry_once_more",
        /// Go on without it.
        SkipPhase = "skip_phase",
        /// Give it and everything behind it up.
        AbortBranch = "abort_branch",
        /// Give the plan up.
        AbortAll = "abort_all",
    }
);

/// The consequences of an order. After these events, [`settle`](super::settle) returns the consequences for other
/// phases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The events, in order.
    pub events: Vec<PlanEvent>,
    /// What the person should know.
    pub warnings: Vec<String>,
}

impl Decision {
    const fn of(events: Vec<PlanEvent>) -> Self {
        Self {
            events,
            warnings: Vec::new(),
        }
    }
}

/// Answers a phase that awaits a decision.
///
/// # Errors
/// When the plan has no such phase, or it awaits none.
pub fn decide(
    dag: &Dag,
    state: &PlanState,
    phase: &PlanPhaseId,
    choice: Choice,
    now: Timestamp,
) -> Result<Decision, PlanTransitionError> {
    let status = find(state, phase)?.status();
    if status != PhaseStatus::AwaitingDecision {
        return Err(refused(phase, status, choice.name()));
    }
    match choice {
        Choice::RetryOnceMore => Ok(Decision::of(vec![PlanEvent::of(
            phase.clone(),
            PhaseEvent::RetriedOnce,
        )])),
        Choice::SkipPhase => skip_phase(dag, state, phase, now),
        Choice::AbortBranch => abort_branch(state, phase, now),
        Choice::AbortAll => Ok(abort_all(state, now)),
    }
}

/// Skips a phase that is neither running nor complete; warns of the phases that use its artifacts.
///
/// # Errors
/// When the plan has no such phase, or it is running or complete.
pub fn skip_phase(
    dag: &Dag,
    state: &PlanState,
    phase: &PlanPhaseId,
    now: Timestamp,
) -> Result<Decision, PlanTransitionError> {
    let progress = find(state, phase)?;
    check(phase, progress.status(), "skipped")?;
    let note = skip_note(phase, progress);
    let event = PhaseEvent::Skipped { note, at: now };
    let mut events = reopened(state);
    events.push(PlanEvent::of(phase.clone(), event));
    let at = dag.position(phase);
    let lacking: Vec<&str> = at
        .map_or(&[][..], |at| dag.dependents(at))
        .iter()
        .filter(|dependent| at.is_some_and(|at| dag.artifact_sources(**dependent).contains(&at)))
        .filter_map(|dependent| dag.ids().get(*dependent).map(PlanPhaseId::as_str))
        .collect();
    let warnings = if lacking.is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "phases that may lack artifacts of `{phase}`: {}",
            lacking.join(", ")
        )]
    };
    Ok(Decision { events, warnings })
}

/// Gives up a phase; [`settle`](super::settle) then blocks everything that depends on it.
///
/// # Errors
/// When the plan has no such phase, or it is complete or aborted.
pub fn abort_branch(
    state: &PlanState,
    phase: &PlanPhaseId,
    now: Timestamp,
) -> Result<Decision, PlanTransitionError> {
    check(phase, find(state, phase)?.status(), "aborted")?;
    let mut events = reopened(state);
    events.push(PlanEvent::of(
        phase.clone(),
        PhaseEvent::Aborted { at: now },
    ));
    Ok(Decision::of(events))
}

/// Gives up everything that is not complete. In a plan that has ended this does nothing.
pub fn abort_all(state: &PlanState, now: Timestamp) -> Decision {
    if state.status.is_ended() {
        return Decision::of(Vec::new());
    }
    let mut events = vec![PlanEvent::AbortRequested];
    for (id, progress) in &state.phases {
        if allowed_for_phase(progress.status()).contains(&"aborted") {
            events.push(PlanEvent::of(id.clone(), PhaseEvent::Aborted { at: now }));
        }
    }
    Decision::of(events)
}

/// Restarts a phase that failed, was aborted or awaits a decision, or retries one without waiting for its time. While
/// the work of a plan is reviewed or was rejected, a complete phase starts again on top of all the work.
///
/// # Errors
/// When the plan has no such phase, or it is in another state.
pub fn retry_phase(
    state: &PlanState,
    phase: &PlanPhaseId,
) -> Result<Decision, PlanTransitionError> {
    let status = find(state, phase)?.status();
    let event = match status {
        PhaseStatus::Retrying => PhaseEvent::MadeReady,
        PhaseStatus::AwaitingDecision => PhaseEvent::RetriedOnce,
        PhaseStatus::Failed | PhaseStatus::Aborted => PhaseEvent::Reset,
        PhaseStatus::Complete if state.is_reviewed() => PhaseEvent::Reset,
        _ => return Err(refused(phase, status, "retry")),
    };
    let mut events = reopened(state);
    events.push(PlanEvent::of(phase.clone(), event));
    Ok(Decision::of(events))
}

/// Restarts every failed and aborted phase, or an aborted plan whose phases are all complete; [`settle`](super::settle)
/// then frees the blocked ones.
pub fn retry_failed(state: &PlanState) -> Decision {
    let resets: Vec<PlanEvent> = state
        .phases
        .iter()
        .filter(|(_, progress)| {
            matches!(
                progress.status(),
                PhaseStatus::Failed | PhaseStatus::Aborted
            )
        })
        .map(|(id, _)| PlanEvent::of(id.clone(), PhaseEvent::Reset))
        .collect();
    if resets.is_empty() {
        // Aborted while its work was reviewed: no phase failed, and the work is offered again.
        let is_given_up = state.status == PlanStatus::Aborted && state.is_complete();
        return Decision::of(if is_given_up { reopened(state) } else { resets });
    }
    let mut events = reopened(state);
    events.extend(resets);
    Decision::of(events)
}

fn find<'a>(
    state: &'a PlanState,
    phase: &PlanPhaseId,
) -> Result<&'a PhaseProgress, PlanTransitionError> {
    state
        .phases
        .get(phase)
        .ok_or_else(|| PlanTransitionError::UnknownPhase {
            phase: phase.clone(),
        })
}

fn check(
    phase: &PlanPhaseId,
    status: PhaseStatus,
    event: &'static str,
) -> Result<(), PlanTransitionError> {
    if allowed_for_phase(status).contains(&event) {
        Ok(())
    } else {
        Err(refused(phase, status, event))
    }
}

fn refused(phase: &PlanPhaseId, from: PhaseStatus, event: &'static str) -> PlanTransitionError {
    PlanTransitionError::Phase {
        phase: phase.clone(),
        from,
        event,
        allowed: allowed_for_phase(from),
    }
}

/// An order reopens a plan that has ended; one that is under review continues.
fn reopened(state: &PlanState) -> Vec<PlanEvent> {
    match state.status {
        PlanStatus::Completed | PlanStatus::Failed | PlanStatus::Aborted => {
            vec![PlanEvent::Reopened]
        }
        PlanStatus::Review => vec![PlanEvent::Continued],
        PlanStatus::Running | PlanStatus::Paused | PlanStatus::AwaitingUserDecision => Vec::new(),
    }
}

fn skip_note(phase: &PlanPhaseId, progress: &PhaseProgress) -> Artifact {
    let content = match &progress.failure {
        Some(failure) => format!(
            "Phase {phase} was skipped after it failed: {}",
            failure.error
        ),
        None => format!("Phase {phase} was skipped"),
    };
    Artifact {
        kind: ArtifactKind::Note,
        path: None,
        name: Some("skipped".to_owned()),
        content: Some(content),
        metadata: None,
    }
}
