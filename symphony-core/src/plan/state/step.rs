//! What a plan's loop does now.

use std::collections::BTreeMap;

use crate::Timestamp;
use serde::Serialize;

use super::board::Board;
use super::choice::{abort_all, skip_phase};
use super::event::{PhaseEvent, PlanEvent};
use super::phase_state::{PhaseState, PhaseStatus};
use super::plan_state::{Completion, PlanState, PlanStatus, end_of};
use crate::closed_set::closed_set;
use crate::id::{PlanPhaseId, RunId};
use crate::plan::graph::Dag;

/// How many phases run at once by default (`--max-parallel`).
pub const MAX_PARALLEL_DEFAULT: usize = 4;

closed_set!(
    /// What happens to a phase that awaits a decision (`--on-failure`).
    OnFailure, "failure mode", {
        /// A person is asked here and now.
        Ask = "ask",
        /// It waits for `plan decide`.
        Wait = "wait",
        /// It has failed.
        Fail = "fail",
        /// It is skipped.
        Skip = "skip",
        /// It and everything that depends on it is given up.
        AbortBranch = "abort-branch",
        /// The plan is given up.
        AbortAll = "abort-all",
    }
);

/// What is seen of a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanSnapshot<'a> {
    /// Who waits for whom.
    pub dag: &'a Dag,
    /// How far it is.
    pub state: &'a PlanState,
    /// Runs of this plan whose lock is held, with their phases.
    pub live_runs: &'a BTreeMap<RunId, PlanPhaseId>,
    /// Phases whose provider is on hold.
    pub held: &'a BTreeMap<PlanPhaseId, HeldPhase>,
    /// What follows when the last phase is complete.
    pub completion: Completion,
}

/// Why a phase waits for its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldPhase {
    /// When the provider may be tried again.
    pub until: Timestamp,
    /// What is on hold, and why, in words.
    pub why: String,
}

/// What a plan's loop may do.
#[derive(Debug, Clone, Copy)]
pub struct PlanLimits {
    /// Most phases at once.
    pub max_parallel: usize,
    /// Slots that the installation has free.
    pub slots_free: usize,
    /// What happens to phases that await a decision.
    pub on_failure: OnFailure,
}

impl PlanLimits {
    /// Nothing starts, and nothing is decided for a person.
    pub const NO_START: Self = Self {
        max_parallel: 0,
        slots_free: 0,
        on_failure: OnFailure::Wait,
    };
}

/// Something to do after the events are committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlanAction {
    /// Make a run and start it.
    StartPhase {
        /// The phase.
        phase: PlanPhaseId,
    },
    /// End a live run that no phase waits for.
    EndRun {
        /// The phase it works on.
        phase: PlanPhaseId,
        /// The run.
        run: RunId,
    },
    /// Do the exit handling of a run whose lock is free.
    FinishRun {
        /// The phase.
        phase: PlanPhaseId,
        /// The run.
        run: RunId,
    },
    /// Ask a person.
    AskDecision {
        /// The phase.
        phase: PlanPhaseId,
    },
}

/// Why a phase that has not ended is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NotStarted {
    /// Phases it waits for are not complete.
    WaitingOn {
        /// Those phases.
        phases: Vec<PlanPhaseId>,
    },
    /// Its next attempt is not due.
    BackingOff {
        /// When it is.
        until: Timestamp,
    },
    /// The plan's limit on parallel phases is reached.
    NoSlot {
        /// The limit.
        max_parallel: usize,
    },
    /// The installation has no slot free.
    NoInstallationSlot,
    /// Its provider is on hold.
    ProviderOnHold {
        /// When the provider may be tried again.
        until: Timestamp,
        /// What is on hold, and why, in words.
        why: String,
    },
    /// An earlier run of it is being ended.
    EarlierRunEnding {
        /// That run.
        run: RunId,
    },
    /// A person has to decide.
    AwaitingDecision,
    /// The plan is paused.
    Paused,
}

/// A phase that is not started, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseDecision {
    /// The phase.
    pub phase: PlanPhaseId,
    /// The reason.
    #[serde(flatten)]
    pub reason: NotStarted,
}

/// What a plan's loop does now: first it commits the events, in order, then it acts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanStep {
    /// What happened, to apply and record.
    pub events: Vec<PlanEvent>,
    /// What to do, once the events are recorded.
    pub actions: Vec<PlanAction>,
    /// A reason for every phase that has neither ended nor started, in level order.
    pub decisions: Vec<PhaseDecision>,
    /// When the loop has to decide again even if nothing else happens.
    pub wake_at: Option<Timestamp>,
}

/// Decides what a plan's loop does now. Linear in phases and edges; the same input gives the same step.
///
/// Nothing in it depends on earlier steps: if a loop dies between events and actions, the next one makes up for it.
pub fn plan_step(snapshot: &PlanSnapshot<'_>, now: Timestamp, limits: &PlanLimits) -> PlanStep {
    if snapshot.state.status.is_ended() {
        let mut step = PlanStep::default();
        end_stray_runs(
            snapshot,
            &Board::new(snapshot.dag, snapshot.state),
            &mut step,
        );
        return step;
    }
    let mut board = Board::new(snapshot.dag, snapshot.state);
    let mut step = PlanStep::default();
    let mut is_aborted = snapshot.state.is_abort_requested;
    for at in snapshot.dag.order() {
        board.settle_phase(*at, now);
        if board.status(*at) == PhaseStatus::AwaitingDecision {
            is_aborted |= decide_unasked(snapshot, &mut board, *at, now, limits.on_failure);
        }
        if is_aborted && !snapshot.state.is_abort_requested {
            // abort-all replaces whatever else was decided in this step
            board = Board::new(snapshot.dag, snapshot.state);
            for event in abort_all(snapshot.state, now).events {
                match event {
                    PlanEvent::Phase { phase, event } => {
                        if let Some(at) = snapshot.dag.position(&phase) {
                            board.emit(at, event);
                        }
                    }
                    other => board.events.push(other),
                }
            }
            break;
        }
    }
    finish_lost_runs(snapshot, &board, &mut step);
    end_stray_runs(snapshot, &board, &mut step);
    start_phases(snapshot, &board, limits, &mut step);
    let status = status_event(snapshot, &board, is_aborted, now);
    step.events = board.events;
    step.events.extend(status);
    step
}

/// Decides for a phase that awaits a decision when no one should be asked. Returns whether the whole plan is given up.
fn decide_unasked(
    snapshot: &PlanSnapshot<'_>,
    board: &mut Board<'_>,
    at: usize,
    now: Timestamp,
    mode: OnFailure,
) -> bool {
    match mode {
        OnFailure::Ask | OnFailure::Wait => {}
        OnFailure::Fail => board.emit(at, PhaseEvent::GivenUp { at: now }),
        OnFailure::AbortBranch => board.emit(at, PhaseEvent::Aborted { at: now }),
        OnFailure::AbortAll => return true,
        OnFailure::Skip => {
            let skip = board
                .id(at)
                .and_then(|id| skip_phase(snapshot.dag, snapshot.state, id, now).ok());
            for event in skip.into_iter().flat_map(|decision| decision.events) {
                if let PlanEvent::Phase { event, .. } = event {
                    board.emit(at, event);
                }
            }
        }
    }
    false
}

fn running_run<'a>(board: &Board<'a>, at: usize) -> Option<&'a RunId> {
    if board.status(at) != PhaseStatus::Running {
        return None;
    }
    match &board.progress(at)?.state {
        PhaseState::Running { run, .. } => run.as_ref(),
        _ => None,
    }
}

/// A running phase whose run's lock is free: its supervisor died.
fn finish_lost_runs(snapshot: &PlanSnapshot<'_>, board: &Board<'_>, step: &mut PlanStep) {
    for at in snapshot.dag.order() {
        let lost = running_run(board, *at).filter(|run| !snapshot.live_runs.contains_key(*run));
        if let (Some(run), Some(phase)) = (lost, board.id(*at)) {
            step.actions.push(PlanAction::FinishRun {
                phase: phase.clone(),
                run: run.clone(),
            });
        }
    }
}

/// A live run that its phase does not know: the phase was blocked, aborted or removed.
fn end_stray_runs(snapshot: &PlanSnapshot<'_>, board: &Board<'_>, step: &mut PlanStep) {
    for (run, phase) in snapshot.live_runs {
        let at = snapshot.dag.position(phase);
        if at.and_then(|at| running_run(board, at)) != Some(run) {
            step.actions.push(PlanAction::EndRun {
                phase: phase.clone(),
                run: run.clone(),
            });
        }
    }
}

fn start_phases(
    snapshot: &PlanSnapshot<'_>,
    board: &Board<'_>,
    limits: &PlanLimits,
    step: &mut PlanStep,
) {
    let live: BTreeMap<&PlanPhaseId, &RunId> = snapshot
        .live_runs
        .iter()
        .map(|(run, phase)| (phase, run))
        .collect();
    // a lost run keeps its slot until its exit handling is over
    let lost = step
        .actions
        .iter()
        .filter(|action| matches!(action, PlanAction::FinishRun { .. }))
        .count();
    let busy = snapshot.live_runs.len() + lost;
    let mut free = limits.max_parallel.saturating_sub(busy);
    let mut slots = limits.slots_free;
    for at in snapshot.dag.order() {
        let Some(phase) = board.id(*at) else { continue };
        let reason = match board.status(*at) {
            PhaseStatus::Pending => NotStarted::WaitingOn {
                phases: waiting_on(snapshot.dag, board, *at),
            },
            PhaseStatus::Retrying => match board.due_at(*at) {
                Some(until) => NotStarted::BackingOff { until },
                None => continue,
            },
            PhaseStatus::AwaitingDecision => {
                step.actions
                    .extend((limits.on_failure == OnFailure::Ask).then(|| {
                        PlanAction::AskDecision {
                            phase: phase.clone(),
                        }
                    }));
                NotStarted::AwaitingDecision
            }
            PhaseStatus::Ready => {
                let held = snapshot.held.get(phase);
                if snapshot.state.status == PlanStatus::Paused {
                    NotStarted::Paused
                } else if let Some(run) = live.get(phase) {
                    NotStarted::EarlierRunEnding {
                        run: (*run).clone(),
                    }
                } else if let Some(HeldPhase { until, why }) = held {
                    NotStarted::ProviderOnHold {
                        until: *until,
                        why: why.clone(),
                    }
                } else if free == 0 {
                    NotStarted::NoSlot {
                        max_parallel: limits.max_parallel,
                    }
                } else if slots == 0 {
                    NotStarted::NoInstallationSlot
                } else {
                    free -= 1;
                    slots -= 1;
                    step.actions.push(PlanAction::StartPhase {
                        phase: phase.clone(),
                    });
                    continue;
                }
            }
            _ => continue,
        };
        if let NotStarted::BackingOff { until } | NotStarted::ProviderOnHold { until, .. } = &reason
        {
            step.wake_at = Some(step.wake_at.map_or(*until, |wake| wake.min(*until)));
        }
        step.decisions.push(PhaseDecision {
            phase: phase.clone(),
            reason,
        });
    }
}

fn waiting_on(dag: &Dag, board: &Board<'_>, at: usize) -> Vec<PlanPhaseId> {
    dag.sources(at)
        .iter()
        .filter(|source| board.status(**source) != PhaseStatus::Complete)
        .filter_map(|source| board.id(*source).cloned())
        .collect()
}

/// Returns the new state of the plan itself after the step: ended, waiting for a person, or running again.
fn status_event(
    snapshot: &PlanSnapshot<'_>,
    board: &Board<'_>,
    is_aborted: bool,
    now: Timestamp,
) -> Option<PlanEvent> {
    let statuses = board.statuses();
    let has_live_run = !snapshot.live_runs.is_empty();
    if let Some(status) = end_of(statuses.iter().copied(), is_aborted, snapshot.completion) {
        // The plan waits for runs that are being ended: an ended plan has no live run.
        return (!has_live_run).then_some(PlanEvent::Ended { status, at: now });
    }
    if statuses
        .iter()
        .all(|status| *status == PhaseStatus::Complete)
    {
        // the pull request of the work is opened, or reviewed, or was rejected
        return None;
    }
    let can_move = has_live_run || board.can_move();
    match snapshot.state.status {
        PlanStatus::Running if !can_move => Some(PlanEvent::WaitingForDecision),
        PlanStatus::AwaitingUserDecision if can_move => Some(PlanEvent::Continued),
        _ => None,
    }
}
