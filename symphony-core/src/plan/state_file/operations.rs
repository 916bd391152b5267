//! What a skill does with a state file.

use std::collections::BTreeMap;

use crate::Timestamp;

use super::answer::{ReadyPhase, SkillAnswer};
use super::convert::StateHeader;
use super::document::StateFile;
use super::error::StateFileError;
use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::artifacts::check_artifacts;
use crate::plan::document::Plan;
use crate::plan::failure::{FailureEvidence, RetryPolicy, classify_failure};
use crate::plan::graph::Dag;
use crate::plan::state::{
    self, Choice, FailurePolicy, FailureReport, OnFailure, PhaseEvent, PhaseStatus, PlanEvent,
    PlanLimits, PlanSnapshot, PlanState, PlanTransitionError, RetryMode, apply, apply_all,
    plan_failure, plan_step,
};

/// Whether a retry is made that is not due or has not been decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryForce {
    /// No: the error says what it waits for.
    #[default]
    WhenDue,
    /// Yes.
    Now,
}

/// Makes the state file of a plan that begins.
///
/// # Errors
/// When the phases do not form a graph; a plan from [`parse_plan`](crate::plan::parse_plan) always does.
pub fn init_state(
    plan: Plan,
    plan_path: &str,
    now: Timestamp,
) -> Result<StateFile, StateFileError> {
    let dag = Dag::new(&plan.phases)?;
    let state = PlanState::new(dag.ids(), now);
    let header = StateHeader {
        managed_by: None,
        plan_path: plan_path.to_owned(),
        retry_policy: RetryPolicy::default(),
    };
    let mut desk = Desk {
        dag,
        state,
        events: Vec::new(),
    };
    desk.follow_up(now)?;
    Ok(StateFile::from_state(header, plan, &desk.state))
}

/// Returns the phases that can be worked on now, in level order, retries that are due included. Changes nothing.
///
/// # Errors
/// When the file is managed by Symphony or not sound.
pub fn ready_phases(file: &StateFile, now: Timestamp) -> Result<Vec<ReadyPhase>, StateFileError> {
    let mut desk = Desk::open(file)?;
    desk.follow_up(now)?;
    Ok(desk.ready(file, usize::MAX))
}

/// Returns what a phase gets from the phases it asks, whoever manages the file. Changes nothing.
///
/// # Errors
/// When the file is not sound or has no such phase.
pub fn phase_artifacts(
    file: &StateFile,
    phase: &PlanPhaseId,
) -> Result<Vec<Artifact>, StateFileError> {
    let dag = Dag::new(&file.plan.phases)?;
    if dag.position(phase).is_none() {
        return Err(unknown(phase));
    }
    Ok(state::artifacts_for(&dag, &file.to_state(), phase))
}

/// Marks at most `phases_max` of the phases that [`ready_phases`] returns as running, and returns them: two callers
/// never get the same phase.
///
/// # Errors
/// As [`ready_phases`].
pub fn start_ready(
    file: &mut StateFile,
    phases_max: usize,
    now: Timestamp,
) -> Result<Vec<ReadyPhase>, StateFileError> {
    let mut desk = Desk::open(file)?;
    desk.follow_up(now)?;
    let ready = desk.ready(file, phases_max);
    for phase in desk.ready_ids(phases_max) {
        let event = PhaseEvent::Started { run: None, at: now };
        desk.take(PlanEvent::of(phase, event))?;
    }
    desk.close(file);
    Ok(ready)
}

/// Notes that a phase is complete, with what it produced.
///
/// # Errors
/// When an artifact is refused, or the phase waits for others, for a decision, or has ended.
pub fn mark_complete(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    artifacts: Vec<Artifact>,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let claims = check_artifacts(artifacts, None);
    if !claims.refused.is_empty() {
        return Err(StateFileError::Artifacts(claims.refused));
    }
    let mut desk = Desk::open(file)?;
    desk.bring_to_running(phase, now)?;
    let event = PhaseEvent::Completed {
        run: None,
        artifacts: claims.artifacts,
        at: now,
    };
    desk.take(PlanEvent::of(phase.clone(), event))?;
    desk.finish(file, phase, now)
}

/// Notes that a phase failed: it is tried again, awaits a decision, or has failed for good, as its class and the
/// file's retry policy say.
///
/// # Errors
/// When the phase waits for others, for a decision, or has ended.
pub fn mark_failed(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    error: &str,
    mode: RetryMode,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let mut desk = Desk::open(file)?;
    desk.bring_to_running(phase, now)?;
    let found = classify_failure(&FailureEvidence {
        text: error,
        ..FailureEvidence::default()
    });
    let report = FailureReport {
        run: None,
        error,
        class: found.class,
        seed: (&file.plan_path, phase.as_str()),
    };
    let policy = FailurePolicy {
        retry: file.retry_policy,
        mode,
    };
    let progress = desk.state.phases.get(phase);
    let progress = progress.ok_or_else(|| unknown(phase))?;
    let event = plan_failure(progress, &report, &policy, now);
    desk.take(PlanEvent::of(phase.clone(), event))?;
    let mut answer = desk.finish(file, phase, now)?;
    answer.error = Some(found);
    Ok(answer)
}

/// Makes a phase ready again whose retry is due; by force also before that, when it awaits a decision, and when it
/// failed or was aborted.
///
/// # Errors
/// When it is not due, or in another state.
pub fn retry_phase(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    force: RetryForce,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let mut desk = Desk::open(file)?;
    let progress = desk.state.phases.get(phase);
    let progress = progress.ok_or_else(|| unknown(phase))?;
    if force == RetryForce::WhenDue {
        match (&progress.state, progress.status()) {
            (state::PhaseState::Retrying { due_at }, _) if *due_at > now => {
                return Err(StateFileError::NotDue {
                    phase: phase.clone(),
                    due_at: *due_at,
                });
            }
            (
                _,
                status @ (PhaseStatus::AwaitingDecision
                | PhaseStatus::Failed
                | PhaseStatus::Aborted),
            ) => {
                return Err(StateFileError::NeedsForce {
                    phase: phase.clone(),
                    status,
                });
            }
            _ => {}
        }
    }
    for event in state::retry_phase(&desk.state, phase)?.events {
        desk.take(event)?;
    }
    desk.finish(file, phase, now)
}

/// Answers a phase that awaits a decision.
///
/// # Errors
/// When it awaits none.
pub fn resolve(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    choice: Choice,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let mut desk = Desk::open(file)?;
    if !desk.state.phases.contains_key(phase) {
        return Err(unknown(phase));
    }
    let decision = state::decide(&desk.dag, &desk.state, phase, choice, now)?;
    for event in decision.events {
        desk.take(event)?;
    }
    let mut answer = desk.finish(file, phase, now)?;
    answer.warnings = decision.warnings;
    Ok(answer)
}

/// A file's plan, opened for one operation.
struct Desk {
    dag: Dag,
    state: PlanState,
    events: Vec<PlanEvent>,
}

impl Desk {
    fn open(file: &StateFile) -> Result<Self, StateFileError> {
        if let Some(by) = &file.managed_by {
            return Err(StateFileError::Managed { by: by.clone() });
        }
        Ok(Self {
            dag: Dag::new(&file.plan.phases)?,
            state: file.to_state(),
            events: Vec::new(),
        })
    }

    fn take(&mut self, event: PlanEvent) -> Result<(), PlanTransitionError> {
        apply(&mut self.state, &event)?;
        self.events.push(event);
        Ok(())
    }

    /// A skill reports on phases it took from `ready` without telling: they begin and end in one step.
    fn bring_to_running(
        &mut self,
        phase: &PlanPhaseId,
        now: Timestamp,
    ) -> Result<(), StateFileError> {
        if !self.state.phases.contains_key(phase) {
            return Err(unknown(phase));
        }
        self.follow_up(now)?;
        let status = self.state.phase_status(phase);
        if status == PhaseStatus::Pending {
            let at = self.dag.position(phase);
            let sources = at.map_or(&[][..], |at| self.dag.sources(at)).iter();
            let ids = sources.filter_map(|source| self.dag.ids().get(*source));
            let open = ids.filter(|id| self.state.phase_status(id) != PhaseStatus::Complete);
            return Err(PlanTransitionError::Waiting {
                phase: phase.clone(),
                waiting_for: open.cloned().collect(),
            }
            .into());
        }
        if status == PhaseStatus::Retrying {
            self.take(PlanEvent::of(phase.clone(), PhaseEvent::MadeReady))?;
        }
        if status != PhaseStatus::Running {
            let event = PhaseEvent::Started { run: None, at: now };
            self.take(PlanEvent::of(phase.clone(), event))?;
        }
        Ok(())
    }

    /// Lets happen what follows for other phases and the plan, without starting anything.
    fn follow_up(&mut self, now: Timestamp) -> Result<(), PlanTransitionError> {
        let snapshot = PlanSnapshot {
            dag: &self.dag,
            state: &self.state,
            live_runs: &BTreeMap::new(),
            held: &BTreeMap::new(),
        };
        let limits = PlanLimits {
            max_parallel: 0,
            slots_free: 0,
            on_failure: OnFailure::Wait,
        };
        let events = plan_step(&snapshot, now, &limits).events;
        apply_all(&mut self.state, &events)?;
        self.events.extend(events);
        Ok(())
    }

    fn ready_positions(&self, phases_max: usize) -> impl Iterator<Item = usize> {
        let is_ready = |at: &usize| {
            let id = self.dag.ids().get(*at);
            id.is_some_and(|id| self.state.phase_status(id) == PhaseStatus::Ready)
        };
        let positions = self.dag.order().iter().copied();
        positions.filter(is_ready).take(phases_max)
    }

    fn ready_ids(&self, phases_max: usize) -> Vec<PlanPhaseId> {
        self.ready_positions(phases_max)
            .filter_map(|at| self.dag.ids().get(at).cloned())
            .collect()
    }

    fn ready(&self, file: &StateFile, phases_max: usize) -> Vec<ReadyPhase> {
        self.ready_positions(phases_max)
            .filter_map(|at| {
                let id = self.dag.ids().get(at)?;
                Some(ReadyPhase {
                    phase: file.plan.phases.get(at)?.clone(),
                    artifacts: state::artifacts_for(&self.dag, &self.state, id),
                })
            })
            .collect()
    }

    /// Writes the state back into the document.
    fn close(self, file: &mut StateFile) {
        let header = StateHeader {
            managed_by: file.managed_by.take(),
            plan_path: std::mem::take(&mut file.plan_path),
            retry_policy: file.retry_policy,
        };
        let plan = std::mem::take(&mut file.plan);
        *file = StateFile::from_state(header, plan, &self.state);
    }

    fn finish(
        mut self,
        file: &mut StateFile,
        phase: &PlanPhaseId,
        now: Timestamp,
    ) -> Result<SkillAnswer, StateFileError> {
        self.follow_up(now)?;
        let progress = self.state.phases.get(phase).ok_or_else(|| unknown(phase))?;
        let status = progress.status();
        let is_asked = status == PhaseStatus::AwaitingDecision;
        let answer = SkillAnswer {
            success: true,
            phase_id: phase.clone(),
            status,
            orchestration_status: self.state.status,
            newly_ready: self.led_to(PhaseStatus::Ready),
            blocked: self.led_to(PhaseStatus::Blocked),
            retry_count: progress.retry_count,
            next_retry_at: match progress.state {
                state::PhaseState::Retrying { due_at } => Some(due_at),
                _ => None,
            },
            error: None,
            options: if is_asked {
                Choice::NAMES.to_vec()
            } else {
                Vec::new()
            },
            warnings: Vec::new(),
        };
        self.close(file);
        Ok(answer)
    }

    /// The phases that this operation's events brought into a state, in order.
    fn led_to(&self, status: PhaseStatus) -> Vec<PlanPhaseId> {
        let phases = self.events.iter().filter_map(|event| match event {
            PlanEvent::Phase { phase, event } if event.target() == status => Some(phase),
            _ => None,
        });
        phases
            .filter(|phase| self.state.phase_status(phase) == status)
            .cloned()
            .collect()
    }
}

fn unknown(phase: &PlanPhaseId) -> StateFileError {
    StateFileError::UnknownPhase {
        phase: phase.clone(),
    }
}
