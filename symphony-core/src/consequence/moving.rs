//! What follows when an issue moves.

use super::effect::Effect;
use super::facts::{IssueFacts, LiveRun, Mover, OpenDelivery};
use crate::issue::{AttemptCounts, IssueEvent, IssueState, IssueStatus, TransitionError, apply};
use crate::learning::SourceEnd;
use crate::log::LogEvent;

/// Why a delivery is closed with its issue.
const ISSUE_ENDED: &str = "its issue has ended";

/// Effects in their order, with the facts as they are after them.
#[derive(Debug)]
pub(super) struct Cascade {
    pub(super) facts: IssueFacts,
    effects: Vec<Effect>,
}

impl Cascade {
    pub(super) fn from(facts: &IssueFacts) -> Self {
        Self {
            facts: facts.clone(),
            effects: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.facts.take(&effect);
        self.effects.push(effect);
    }

    pub(super) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// Moves the issue.
    pub(super) fn move_issue(
        &mut self,
        event: &IssueEvent,
        mover: Mover,
    ) -> Result<(), TransitionError> {
        let before = self.facts.state.clone();
        let after = apply(&before, event)?;
        self.push(Effect::SetState(after.clone()));
        match (is_done(&before), is_done(&after)) {
            (false, true) => self.push(Effect::DependencyMet),
            (true, false) => self.push(Effect::DependencyReopened),
            (true, true) | (false, false) => {}
        }
        // a retry belongs to an issue that waits in `todo`: left behind, it would start a run on one that does not
        if after.status() != IssueStatus::Todo {
            self.push(Effect::RemoveRetry);
        }
        if begins_afresh(event) {
            self.push(Effect::SetCounts(AttemptCounts::default()));
            self.push(Effect::ForgetGateFailures);
        }
        if after.status().is_terminal() {
            self.end_what_is_open(event);
        }
        if SourceEnd::from(before.status()) != SourceEnd::from(after.status()) {
            self.push(Effect::SettleLearnings);
        }
        if mover == Mover::Run {
            self.push(Effect::RecordMover);
        }
        self.push(Effect::Log(LogEvent::IssueMoved {
            event: event.clone(),
            from: before.status(),
            to: after.status(),
        }));
        self.leave_accepted_phase(event);
        Ok(())
    }

    /// An issue that has ended leaves nothing open. A merge settles its pull request itself.
    fn end_what_is_open(&mut self, event: &IssueEvent) {
        // the run may have been claimed since the caller looked; nothing is left for it to do
        if self.facts.live_run == LiveRun::Yes {
            self.push(Effect::EndRuns);
        }
        if !matches!(event, IssueEvent::Merged | IssueEvent::MergedOutside)
            && let Some(pr) = self.facts.pull_request
        {
            self.push(Effect::ClosePullRequest(pr));
        }
        if let Some(delivery) = &self.facts.delivery {
            let delivery = delivery.id;
            let reason = ISSUE_ENDED;
            self.push(Effect::RejectDelivery { delivery, reason });
        }
    }

    /// An issue that moves to `todo` although its phase is accepted continues with the next phase: its agent would
    /// otherwise work on a finished phase again. If a run is live, the end of that run does this.
    fn leave_accepted_phase(&mut self, event: &IssueEvent) {
        let steps_itself = matches!(event, IssueEvent::PhaseAccepted { .. });
        if self.facts.state == IssueState::Todo
            && self.facts.live_run == LiveRun::No
            && !steps_itself
            && let Some(delivery) = self.facts.delivery_to_step()
        {
            self.close_step(delivery);
        }
    }

    /// Takes the issue of an accepted delivery on to its next phase: the move, and the label. One that is already in
    /// `todo` only lacks the label.
    pub(super) fn step(&mut self, mover: Mover) -> Result<(), TransitionError> {
        let Some(delivery) = self.facts.delivery_to_step() else {
            return Ok(());
        };
        if self.facts.state != IssueState::Todo {
            let next = delivery.next();
            self.move_issue(&IssueEvent::PhaseAccepted { next }, mover)?;
        }
        self.close_step(delivery);
        Ok(())
    }

    /// Sets the label of the next phase, and records that the delivery has had its effect. The counts of the phase are
    /// over.
    fn close_step(&mut self, delivery: OpenDelivery) {
        if let Some(next) = &delivery.next_phase {
            self.push(Effect::EnterPhase(next.clone()));
        }
        self.push(Effect::SetCounts(AttemptCounts::default()));
        self.push(Effect::CloseDelivery(delivery.id));
        self.push(Effect::Log(LogEvent::PhaseAdvanced {
            delivery: delivery.id,
            from: delivery.phase,
            to: delivery.next_phase,
        }));
    }
}

fn is_done(state: &IssueState) -> bool {
    state.status() == IssueStatus::Done
}

/// Returns whether failures before this event no longer count: a person starts it again, or its phase is over.
const fn begins_afresh(event: &IssueEvent) -> bool {
    matches!(
        event,
        IssueEvent::Queued | IssueEvent::Reopened | IssueEvent::PhaseAccepted { .. }
    )
}

/// Decides what follows when an issue moves.
///
/// # Errors
/// When the table of transitions has no row for this state and event.
pub fn consequences_of_move(
    facts: &IssueFacts,
    event: &IssueEvent,
    mover: Mover,
) -> Result<Vec<Effect>, TransitionError> {
    let mut cascade = Cascade::from(facts);
    cascade.move_issue(event, mover)?;
    Ok(cascade.into_effects())
}

/// Decides what follows when an issue whose phase is accepted continues with its next phase; nothing without such a
/// delivery.
///
/// # Errors
/// When the issue cannot continue from its status.
pub fn consequences_of_step(
    facts: &IssueFacts,
    mover: Mover,
) -> Result<Vec<Effect>, TransitionError> {
    let mut cascade = Cascade::from(facts);
    cascade.step(mover)?;
    Ok(cascade.into_effects())
}
