//! Plans that have not ended, as a tick sees them.

use crate::Timestamp;
use crate::id::{PlanId, PlanPhaseId, ProjectId};
use crate::plan::state::{Completion, PhaseState, PlanStatus};

/// A plan that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPlan {
    /// The plan.
    pub plan: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file.
    pub path: String,
    /// Its state.
    pub status: PlanStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// The states of its phases.
    pub phases: Vec<OpenPhase>,
    /// What follows when the last of them is complete.
    pub completion: Completion,
    /// What carries it on.
    pub driver: PlanDriver,
}

impl OpenPlan {
    /// Returns whether the pull request of its work should be opened: any tick does that, whoever drives plans.
    pub fn awaits_review(&self) -> bool {
        self.completion == Completion::OpensPullRequest
            && self.status == PlanStatus::Running
            && self.is_complete()
    }

    /// Returns whether every phase is complete, skipped ones included.
    pub fn is_complete(&self) -> bool {
        let mut phases = self.phases.iter();
        phases.all(|phase| matches!(phase.state, PhaseState::Complete { .. }))
    }

    /// Returns whether one of its phases awaits a person's decision.
    pub fn asks(&self) -> bool {
        let mut phases = self.phases.iter();
        phases.any(|phase| matches!(phase.state, PhaseState::AwaitingDecision { .. }))
    }

    /// Returns whether the next round has something to do, now or later, before a person acts.
    pub fn goes_on_by_itself(&self) -> bool {
        match self.status {
            PlanStatus::Running => true,
            PlanStatus::AwaitingUserDecision => !self.is_complete() && !self.asks(),
            _ => false,
        }
    }
}

/// A phase of a plan that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPhase {
    /// The phase.
    pub phase: PlanPhaseId,
    /// Its state.
    pub state: PhaseState,
}

/// What carries a plan on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanDriver {
    /// A running command: `plan run`, or a tick in its round.
    Command,
    /// The ticks (`plan.by_tick`).
    Tick,
    /// Nothing.
    None,
}
