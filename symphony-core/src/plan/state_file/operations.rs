//! What a skill does with a state file.

use std::collections::BTreeMap;

use crate::Timestamp;

use super::answer::{ReadyPhase, SkillAnswer};
use super::convert::StateHeader;
use super::document::StateFile;
use super::error::StateFileError;
use super::lease::{LEASE_MS_DEFAULT, Lease, Leases, plan_loss};
use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::artifacts::check_artifacts;
use crate::plan::document::Plan;
use crate::plan::failure::{FailureEvidence, FailurePatterns, RetryPolicy, classify_failure};
use crate::plan::graph::Dag;
use crate::plan::state::{
    self, Choice, Confirmation, FailurePolicy, FailureReport, PhaseEvent, PhaseStatus, PlanEvent,
    PlanLimits, PlanSnapshot, PlanState, PlanTransitionError, RetryMode, apply, apply_all,
    plan_failure, plan_step,
};

/// A phase that a session reports as failed.
#[derive(Debug, Clone, Copy)]
pub struct FailedPhase<'a> {
    /// The phase.
    pub phase: &'a PlanPhaseId,
    /// What went wrong.
    pub error: &'a str,
    /// The project's own patterns of failures.
    pub patterns: &'a FailurePatterns,
}

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
        leases: Leases::default(),
        events: Vec::new(),
    };
    desk.follow_up(now)?;
    Ok(StateFile::from_state(header, plan, &desk.state))
}

/// Returns the phases that can be worked on now, in level order: retries that are due and phases whose leases have run
/// out are among them. Changes nothing.
///
/// # Errors
/// When the file is managed by Symphony or not sound.
pub fn ready_phases(file: &StateFile, now: Timestamp) -> Result<Vec<ReadyPhase>, StateFileError> {
    let mut desk = Desk::open(file, now, None)?;
    desk.follow_up(now)?;
    Ok(desk.ready(file, usize::MAX))
}

/// Returns what a phase gets from the phases it uses, whoever manages the file. Changes nothing.
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
/// never get the same phase. With a lease they are offered again when it has run out.
///
/// # Errors
/// As [`ready_phases`].
pub fn start_ready(
    file: &mut StateFile,
    phases_max: usize,
    lease_ms: Option<u64>,
    now: Timestamp,
) -> Result<Vec<ReadyPhase>, StateFileError> {
    let mut desk = Desk::open(file, now, None)?;
    desk.follow_up(now)?;
    let mut ready = desk.ready(file, phases_max);
    let lease = lease_ms.map(|length| Lease::new(length, now));
    for phase in desk.ready_ids(phases_max) {
        let event = PhaseEvent::Started { run: None, at: now };
        desk.take(PlanEvent::of(phase.clone(), event))?;
        if let Some(lease) = lease {
            desk.leases.insert(phase, lease);
        }
    }
    for phase in &mut ready {
        phase.lease_until = lease.map(|lease| lease.until);
    }
    desk.close(file);
    Ok(ready)
}

/// Records that a phase is complete, with what it produced.
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
    let mut desk = Desk::open(file, now, Some(phase))?;
    desk.bring_to_running(phase, now)?;
    let event = PhaseEvent::Completed {
        run: None,
        artifacts: claims.artifacts,
        confirmation: Confirmation::Confirmed,
        at: now,
    };
    desk.take(PlanEvent::of(phase.clone(), event))?;
    desk.finish(file, phase, now)
}

/// Records that a phase failed: it is retried, awaits a decision, or has failed for good, depending on its class and
/// the file's retry policy.
///
/// # Errors
/// When the phase waits for others, for a decision, or has ended.
pub fn mark_failed(
    file: &mut StateFile,
    failed: &FailedPhase<'_>,
    mode: RetryMode,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let FailedPhase {
        phase,
        error,
        patterns,
    } = *failed;
    let mut desk = Desk::open(file, now, Some(phase))?;
    desk.bring_to_running(phase, now)?;
    let found = classify_failure(&FailureEvidence {
        text: error,
        patterns: Some(patterns),
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

/// Renews the lease of the session that runs a phase, with its original length unless another one is given. An expired
/// lease is renewed too if no one else has taken the phase.
///
/// # Errors
/// When the phase is not running.
pub fn renew(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    lease_ms: Option<u64>,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let mut desk = Desk::open(file, now, Some(phase))?;
    let progress = desk.state.phases.get(phase);
    let status = progress.ok_or_else(|| unknown(phase))?.status();
    if status != PhaseStatus::Running {
        return Err(StateFileError::NotRunning {
            phase: phase.clone(),
            status,
        });
    }
    let before = desk.leases.get(phase).map(|lease| lease.length_ms);
    let length = lease_ms.or(before).unwrap_or(LEASE_MS_DEFAULT);
    desk.leases.insert(phase.clone(), Lease::new(length, now));
    desk.finish(file, phase, now)
}

/// Makes a phase ready again whose retry is due. With force, also earlier, if it awaits a decision, failed or was
/// aborted, and if it is running: it is then taken from its session, which counts as an attempt.
///
/// # Errors
/// When it is not due, or in another state.
pub fn retry_phase(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    force: RetryForce,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let mut desk = Desk::open(file, now, Some(phase))?;
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
                status @ (PhaseStatus::Running
                | PhaseStatus::AwaitingDecision
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
    if progress.status() == PhaseStatus::Running {
        desk.lose(
            file,
            phase,
            "the phase was taken back from its session",
            now,
        )?;
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
    let mut desk = Desk::open(file, now, None)?;
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
    leases: Leases,
    events: Vec<PlanEvent>,
}

impl Desk {
    /// Opens a file: phases with expired leases have lost their sessions, except the one that an operation reports on,
    /// because its session is alive.
    fn open(
        file: &StateFile,
        now: Timestamp,
        reported: Option<&PlanPhaseId>,
    ) -> Result<Self, StateFileError> {
        if let Some(by) = &file.managed_by {
            return Err(StateFileError::Managed { by: by.clone() });
        }
        let mut desk = Self {
            dag: Dag::new(&file.plan.phases)?,
            state: file.to_state(),
            leases: Leases::of(file),
            events: Vec::new(),
        };
        for (phase, lease) in desk.leases.take_run_out(now, reported) {
            let error = format!(
                "the lease expired at {}: its session reported nothing",
                lease.until
            );
            desk.lose(file, &phase, &error, now)?;
        }
        Ok(desk)
    }

    /// A running phase has lost its session.
    fn lose(
        &mut self,
        file: &StateFile,
        phase: &PlanPhaseId,
        error: &str,
        now: Timestamp,
    ) -> Result<(), StateFileError> {
        let policy = FailurePolicy {
            retry: file.retry_policy,
            mode: RetryMode::Again,
        };
        let progress = self.state.phases.get(phase);
        let progress = progress.ok_or_else(|| unknown(phase))?;
        let seed = (file.plan_path.as_str(), phase.as_str());
        let event = plan_loss(progress, error, seed, &policy, now);
        Ok(self.take(PlanEvent::of(phase.clone(), event))?)
    }

    fn take(&mut self, event: PlanEvent) -> Result<(), PlanTransitionError> {
        apply(&mut self.state, &event)?;
        self.events.push(event);
        Ok(())
    }

    /// A skill may report on phases that it took from `ready` without marking them: they begin and end in one step.
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

    /// Applies the consequences for other phases and the plan, without starting anything.
    fn follow_up(&mut self, now: Timestamp) -> Result<(), PlanTransitionError> {
        let snapshot = PlanSnapshot {
            completion: state::Completion::Ends,
            dag: &self.dag,
            state: &self.state,
            live_runs: &BTreeMap::new(),
            held: &BTreeMap::new(),
        };
        let events = plan_step(&snapshot, now, &PlanLimits::NO_START).events;
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
                    lease_until: None,
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
        self.leases.write(file);
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
            lease_until: match status {
                PhaseStatus::Running => self.leases.get(phase).map(|lease| lease.until),
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
