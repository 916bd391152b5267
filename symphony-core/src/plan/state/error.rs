//! Why an event does not fit a plan's state.

use super::phase_state::PhaseStatus;
use super::plan_state::PlanStatus;
use crate::id::{PlanPhaseId, RunId};

/// Why an event does not fit a plan's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanTransitionError {
    /// The plan has no such phase.
    #[error("the plan has no phase `{phase}`")]
    UnknownPhase {
        /// The named phase.
        phase: PlanPhaseId,
    },
    /// The phase's state does not take the event.
    #[error("phase `{phase}` is {}: `{event}` cannot happen there", from.words())]
    Phase {
        /// The phase.
        phase: PlanPhaseId,
        /// Its state.
        from: PhaseStatus,
        /// The event's name.
        event: &'static str,
        /// The names of the events it takes.
        allowed: &'static [&'static str],
    },
    /// The run that reports is not the phase's run.
    #[error("run {} no longer owns phase `{phase}`", named(run.as_ref()))]
    StaleRun {
        /// The phase.
        phase: PlanPhaseId,
        /// Who reports.
        run: Option<RunId>,
    },
    /// The plan's state does not take the event.
    #[error("the plan is {}: `{event}` cannot happen there", from.words())]
    Plan {
        /// Its state.
        from: PlanStatus,
        /// The event's name.
        event: &'static str,
        /// The names of the events it takes.
        allowed: &'static [&'static str],
    },
    /// The plan has ended: an order to give it up finds nothing.
    #[error("the plan is {}: it has already ended", from.words())]
    NothingLeft {
        /// Its state.
        from: PlanStatus,
    },
    /// Phases wait for what has not completed.
    #[error("phase `{phase}` waits for {}", waiting_for.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "))]
    Waiting {
        /// The phase.
        phase: PlanPhaseId,
        /// The phases it waits for that are not complete.
        waiting_for: Vec<PlanPhaseId>,
    },
}

fn named(run: Option<&RunId>) -> &str {
    run.map_or("of somebody else", RunId::as_str)
}
