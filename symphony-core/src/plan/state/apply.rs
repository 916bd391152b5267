//! The one place where a plan's state changes.

use super::error::PlanTransitionError;
use super::event::{PhaseEvent, PlanEvent, ReleaseCause};
use super::phase_state::{FAILURES_KEPT_MAX, PhaseFailure, PhaseProgress, PhaseState, PhaseStatus};
use super::plan_state::{PlanState, PlanStatus};
use crate::id::PlanPhaseId;

/// Applies an event. On an error the state is as before.
///
/// # Errors
/// When the event does not fit the state: the error names the state and what is allowed from it.
pub fn apply(state: &mut PlanState, event: &PlanEvent) -> Result<(), PlanTransitionError> {
    let allowed = allowed_for_plan(state.status);
    let kind = match event {
        PlanEvent::Phase { .. } => "phase",
        other => other.name(),
    };
    if !allowed.contains(&kind) {
        return Err(PlanTransitionError::Plan {
            from: state.status,
            event: event.name(),
            allowed,
        });
    }
    match event {
        PlanEvent::Phase { phase, event } => {
            let progress =
                state
                    .phases
                    .get_mut(phase)
                    .ok_or_else(|| PlanTransitionError::UnknownPhase {
                        phase: phase.clone(),
                    })?;
            return apply_to_phase(progress, phase, event);
        }
        PlanEvent::Paused => state.status = PlanStatus::Paused,
        PlanEvent::Resumed | PlanEvent::Continued => state.status = PlanStatus::Running,
        PlanEvent::WaitingForDecision | PlanEvent::ReviewRejected { .. } => {
            state.status = PlanStatus::AwaitingUserDecision;
        }
        PlanEvent::ReviewOpened { .. } | PlanEvent::ReviewResumed { .. } => {
            state.status = PlanStatus::Review;
        }
        PlanEvent::AbortRequested => state.is_abort_requested = true,
        PlanEvent::Ended { status, at } => {
            if !status.is_ended() {
                return Err(PlanTransitionError::Plan {
                    from: state.status,
                    event: event.name(),
                    allowed,
                });
            }
            state.status = *status;
            state.completed_at = Some(*at);
        }
        PlanEvent::Reopened => reopen(state),
        PlanEvent::ChangesAccepted { phases } => {
            if state.status.is_ended() || state.status == PlanStatus::Review {
                reopen(state);
            }
            let mut before = std::mem::take(&mut state.phases);
            for id in phases {
                let kept = before.remove(id).filter(|progress| {
                    matches!(
                        progress.status(),
                        PhaseStatus::Complete | PhaseStatus::Running
                    )
                });
                state.phases.insert(id.clone(), kept.unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// Applies events in order; stops at the first that does not fit, with those before it applied.
///
/// # Errors
/// As [`apply`].
pub fn apply_all<'a>(
    state: &mut PlanState,
    events: impl IntoIterator<Item = &'a PlanEvent>,
) -> Result<(), PlanTransitionError> {
    events.into_iter().try_for_each(|event| apply(state, event))
}

fn reopen(state: &mut PlanState) {
    state.status = PlanStatus::Running;
    state.is_abort_requested = false;
    state.completed_at = None;
}

const fn allowed_for_plan(status: PlanStatus) -> &'static [&'static str] {
    match status {
        PlanStatus::Running => &[
            "phase",
            "paused",
            "waiting_for_decision",
            "review_opened",
            "abort_requested",
            "ended",
            "changes_accepted",
        ],
        PlanStatus::Paused => &[
            "phase",
            "resumed",
            "abort_requested",
            "ended",
            "changes_accepted",
        ],
        PlanStatus::AwaitingUserDecision => &[
            "phase",
            "paused",
            "continued",
            "review_resumed",
            "abort_requested",
            "ended",
            "changes_accepted",
        ],
        PlanStatus::Review => &[
            "phase",
            "continued",
            "review_rejected",
            "abort_requested",
            "ended",
            "changes_accepted",
        ],
        PlanStatus::Completed | PlanStatus::Failed | PlanStatus::Aborted => {
            &["reopened", "changes_accepted"]
        }
    }
}

/// The table of transitions: the names of the events that a phase accepts.
pub(super) const fn allowed_for_phase(status: PhaseStatus) -> &'static [&'static str] {
    match status {
        PhaseStatus::Pending | PhaseStatus::Retrying => {
            &["made_ready", "skipped", "aborted", "blocked"]
        }
        PhaseStatus::Ready => &["started", "skipped", "aborted", "blocked"],
        PhaseStatus::Running => &[
            "released",
            "completed",
            "retry_scheduled",
            "put_off",
            "decision_asked",
            "failed",
            "aborted",
            "blocked",
        ],
        PhaseStatus::AwaitingDecision => {
            &["retried_once", "given_up", "skipped", "aborted", "blocked"]
        }
        // only while the work as a whole is reviewed: see `retry_phase`
        PhaseStatus::Complete => &["reset"],
        PhaseStatus::Failed => &["reset", "skipped", "aborted"],
        PhaseStatus::Blocked => &["unblocked", "skipped", "aborted"],
        PhaseStatus::Aborted => &["reset", "skipped"],
    }
}

fn apply_to_phase(
    progress: &mut PhaseProgress,
    phase: &PlanPhaseId,
    event: &PhaseEvent,
) -> Result<(), PlanTransitionError> {
    let allowed = allowed_for_phase(progress.status());
    if !allowed.contains(&event.name()) {
        return Err(PlanTransitionError::Phase {
            phase: phase.clone(),
            from: progress.status(),
            event: event.name(),
            allowed,
        });
    }
    if let (Some(reporting), PhaseState::Running { run, .. }) =
        (event.reporting_run(), &progress.state)
        && reporting != run
    {
        return Err(PlanTransitionError::StaleRun {
            phase: phase.clone(),
            run: reporting.clone(),
        });
    }
    change(progress, event);
    Ok(())
}

fn change(progress: &mut PhaseProgress, event: &PhaseEvent) {
    match event {
        PhaseEvent::MadeReady => progress.state = PhaseState::Ready,
        PhaseEvent::Started { run, at } => {
            progress.state = PhaseState::Running {
                run: run.clone(),
                since: *at,
            };
            progress.attempts = progress.attempts.saturating_add(1);
            progress.started_at.get_or_insert(*at);
        }
        PhaseEvent::Released { cause, .. } => {
            progress.state = PhaseState::Ready;
            progress.attempts = progress.attempts.saturating_sub(1);
            match cause {
                ReleaseCause::Crashed => {
                    progress.crash_count = progress.crash_count.saturating_add(1);
                }
                ReleaseCause::Silent => progress.is_continued = true,
                ReleaseCause::Held | ReleaseCause::Moved => {}
            }
        }
        PhaseEvent::Completed {
            artifacts,
            at,
            confirmation,
            ..
        } => {
            progress.is_unconfirmed = !confirmation.is_confirmed();
            progress.state = PhaseState::Complete { skipped: false };
            progress.artifacts.clone_from(artifacts);
            progress.failure = None;
            progress.completed_at = Some(*at);
        }
        PhaseEvent::RetryScheduled {
            failure, due_at, ..
        } => {
            progress.state = PhaseState::Retrying { due_at: *due_at };
            progress.retry_count = progress.retry_count.saturating_add(1);
            remember(progress, failure);
        }
        PhaseEvent::PutOff {
            failure, due_at, ..
        } => {
            progress.state = PhaseState::Retrying { due_at: *due_at };
            progress.attempts = progress.attempts.saturating_sub(1);
            // Shown until the next run ends; not a part of the history, which the next agent reads.
            progress.failure = Some(failure.clone());
        }
        PhaseEvent::DecisionAsked { failure, .. } => {
            progress.state = PhaseState::AwaitingDecision {
                asked_at: failure.at,
            };
            remember(progress, failure);
        }
        PhaseEvent::Failed { failure, .. } => {
            progress.state = PhaseState::Failed;
            progress.completed_at = Some(failure.at);
            remember(progress, failure);
        }
        PhaseEvent::GivenUp { at } => {
            progress.state = PhaseState::Failed;
            progress.completed_at = Some(*at);
        }
        PhaseEvent::RetriedOnce => {
            progress.state = PhaseState::Ready;
            progress.failure = None;
        }
        PhaseEvent::Reset => {
            let history = std::mem::take(&mut progress.history);
            *progress = PhaseProgress {
                history,
                attempts: progress.attempts,
                ..PhaseProgress::default()
            };
        }
        PhaseEvent::Skipped { note, at } => {
            progress.state = PhaseState::Complete { skipped: true };
            progress.artifacts = vec![note.clone()];
            progress.completed_at = Some(*at);
        }
        PhaseEvent::Aborted { at } => {
            progress.state = PhaseState::Aborted;
            progress.completed_at = Some(*at);
        }
        PhaseEvent::Blocked { at, .. } => {
            progress.state = PhaseState::Blocked;
            progress.completed_at = Some(*at);
        }
        PhaseEvent::Unblocked => {
            progress.state = PhaseState::Pending;
            progress.completed_at = None;
        }
    }
}

fn remember(progress: &mut PhaseProgress, failure: &PhaseFailure) {
    progress.crash_count = 0;
    progress.is_continued = false;
    progress.failure = Some(failure.clone());
    if progress.history.len() >= FAILURES_KEPT_MAX {
        progress.history.remove(0);
    }
    progress.history.push(failure.clone());
}
