//! What follows from the graph: which phases become ready, blocked or free again.

use crate::Timestamp;

use super::apply::apply_all;
use super::error::PlanTransitionError;
use super::event::{PhaseEvent, PlanEvent};
use super::phase_state::{PhaseProgress, PhaseState, PhaseStatus};
use super::plan_state::{PlanState, PlanStatus};
use crate::id::PlanPhaseId;
use crate::plan::graph::Dag;

/// A plan's phases by position, with the events applied that are decided so far.
pub(super) struct Board<'a> {
    dag: &'a Dag,
    state: &'a PlanState,
    statuses: Vec<PhaseStatus>,
    pub(super) events: Vec<PlanEvent>,
}

impl<'a> Board<'a> {
    pub(super) fn new(dag: &'a Dag, state: &'a PlanState) -> Self {
        let statuses = dag.ids().iter().map(|id| state.phase_status(id)).collect();
        Self {
            dag,
            state,
            statuses,
            events: Vec::new(),
        }
    }

    pub(super) fn status(&self, at: usize) -> PhaseStatus {
        self.statuses
            .get(at)
            .copied()
            .unwrap_or(PhaseStatus::Pending)
    }

    pub(super) fn statuses(&self) -> &[PhaseStatus] {
        &self.statuses
    }

    pub(super) fn id(&self, at: usize) -> Option<&'a PlanPhaseId> {
        self.dag.ids().get(at)
    }

    pub(super) fn progress(&self, at: usize) -> Option<&'a PhaseProgress> {
        self.state.phases.get(self.id(at)?)
    }

    /// Decides an event on the phase at a position.
    pub(super) fn emit(&mut self, at: usize, event: PhaseEvent) {
        if let (Some(id), Some(status)) = (self.dag.ids().get(at), self.statuses.get_mut(at)) {
            *status = event.target();
            self.events.push(PlanEvent::of(id.clone(), event));
        }
    }

    /// Applies the consequences for one phase, given that all phases it waits for have settled.
    pub(super) fn settle_phase(&mut self, at: usize, now: Timestamp) {
        let sources = self.dag.sources(at);
        let blocker = sources.iter().find(|source| self.status(**source).blocks());
        let blocker = blocker.and_then(|source| self.id(*source));
        match (self.status(at), blocker) {
            (status, Some(by)) if !status.is_terminal() => {
                let by = by.clone();
                self.emit(at, PhaseEvent::Blocked { by, at: now });
            }
            (PhaseStatus::Blocked, None) => self.emit(at, PhaseEvent::Unblocked),
            (PhaseStatus::Retrying, None) if self.due_at(at).is_none_or(|due| due <= now) => {
                self.emit(at, PhaseEvent::MadeReady);
            }
            _ => {}
        }
        let is_met = |source: &usize| self.status(*source) == PhaseStatus::Complete;
        if self.status(at) == PhaseStatus::Pending && sources.iter().all(is_met) {
            self.emit(at, PhaseEvent::MadeReady);
        }
    }

    /// Returns whether a phase is running or will be without a person's decision.
    pub(super) fn can_move(&self) -> bool {
        self.statuses.iter().any(|status| {
            matches!(
                status,
                PhaseStatus::Ready | PhaseStatus::Running | PhaseStatus::Retrying
            )
        })
    }

    /// Returns when a phase that is retrying is due.
    pub(super) fn due_at(&self, at: usize) -> Option<Timestamp> {
        match self.progress(at)?.state {
            PhaseState::Retrying { due_at } => Some(due_at),
            _ => None,
        }
    }
}

/// Returns the events that follow from the graph and the time alone: due retries and phases whose sources are complete
/// become ready, phases behind one that will not complete are blocked, blocked ones whose sources can complete again
/// are freed; a plan that waited for a person is running again as soon as one of its phases can continue. Nothing follows
/// in a plan that has ended. Linear in phases and edges.
pub fn settle(dag: &Dag, state: &PlanState, now: Timestamp) -> Vec<PlanEvent> {
    if state.status.is_ended() {
        return Vec::new();
    }
    let mut board = Board::new(dag, state);
    for at in dag.order() {
        board.settle_phase(*at, now);
    }
    // No round is needed for this: orders are carried out even while nothing drives the plan.
    if state.status == PlanStatus::AwaitingUserDecision && board.can_move() {
        board.events.push(PlanEvent::Continued);
    }
    board.events
}

/// Applies what [`settle`] returns, and returns it.
///
/// # Errors
/// When the state lacks a phase of the graph.
pub fn settle_now(
    dag: &Dag,
    state: &mut PlanState,
    now: Timestamp,
) -> Result<Vec<PlanEvent>, PlanTransitionError> {
    let events = settle(dag, state, now);
    apply_all(state, &events)?;
    Ok(events)
}
