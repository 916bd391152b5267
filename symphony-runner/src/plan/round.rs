//! One round of a plan: observe, decide, commit, act.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{PlanId, PlanPhaseId, RunId};
use symphony_core::plan::state::{
    OnFailure, PhaseEvent, PlanAction, PlanEvent, PlanLimits, PlanSnapshot, PlanStep, plan_step,
    settle_now,
};
use symphony_core::profile::ModelChoice;
use symphony_core::run::{Run, RunTarget};
use symphony_core::tick::{
    Action, LockState, Snapshot, StartRun, free_worker_slots, watch_supervisors,
};
use symphony_store::{Context, PlanRecord, RunFilter, Store};
use symphony_workspace::Failpoint;

use super::ready::{Dispatch, Held, Site, ready_phases};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::placement::control::take_host;
use crate::step_event::{PhaseEnd, PlanStepEvent};
use crate::tick::{Effects, LocalEffects, Observed, act, observe};

/// What a round saw and did.
#[derive(Debug)]
pub struct PlanRound {
    /// The plan after the round.
    pub record: PlanRecord,
    /// What was decided, and why nothing else was.
    pub step: PlanStep,
    /// The plan's runs that are alive.
    pub live: BTreeMap<RunId, PlanPhaseId>,
    /// Those of them whose exit handling is postponed, with no process at it.
    pub put_off: BTreeSet<RunId>,
    /// The runs that were started.
    pub started: Vec<Run>,
    /// Whether a start failed or is left: the next round is due at once, or soon.
    pub starts_left: StartsLeft,
    /// What was done.
    pub events: Vec<PlanStepEvent>,
    /// What failed, a line each; the next round tries again.
    pub problems: Vec<String>,
}

/// Whether something that was to be started was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartsLeft {
    /// All was started.
    None,
    /// It became ready in this very round: the next one looks at its provider.
    AtOnce,
    /// It was refused: something else was faster.
    Soon,
}

/// Makes one round of a plan. The caller holds its lock.
///
/// # Errors
/// When agents on another host use the database, or it cannot be read or written.
pub(super) fn plan_round(
    installation: &Installation,
    store: &mut Store,
    effects: &mut LocalEffects<'_>,
    id: &PlanId,
    on_failure: Option<OnFailure>,
) -> Result<PlanRound, RunnerError> {
    // Another host may have taken the database over while this process slept: its runs would look dead here.
    take_host(installation, store)?;
    let now = effects.now();
    let (observed, problems) = observe(installation, store, effects, now)?;
    let live = live_runs(store, &observed.snapshot, id, now)?;
    let open = observed.snapshot.plans.iter().find(|open| open.plan == *id);
    let from_database = match open {
        Some(open) => {
            store
                .overrides(&AgentType::Worker, &open.project)?
                .effective()
                .model
        }
        None => ModelChoice::default(),
    };
    let (record, (step, phases)) =
        store.change_plan(&Context::system(now), id, |record, dag| {
            // As the step will see them: a retry that is due is ready.
            let mut state = record.state.clone();
            settle_now(dag, &mut state, now)?;
            let site = Site {
                installation,
                observed: &observed,
                record,
                state: &state,
                from_database: &from_database,
                now,
            };
            let phases = ready_phases(site);
            let held = phases
                .iter()
                .filter_map(|(id, dispatch)| Some((id.clone(), dispatch.as_ref().err()?.into())))
                .collect();
            let snapshot = PlanSnapshot {
                dag,
                state: &record.state,
                live_runs: &live,
                completion: record.completion(),
                held: &held,
            };
            let slots = free_worker_slots(&observed.snapshot, &record.project, now);
            let limits = PlanLimits {
                max_parallel: record.options.max_parallel,
                slots_free: usize::try_from(slots).unwrap_or(usize::MAX),
                on_failure: on_failure.unwrap_or(record.options.on_failure),
            };
            let step = plan_step(&snapshot, now, &limits);
            Ok((step.events.clone(), (step, phases)))
        })?;
    Failpoint::PlanDecided.reach();
    let events = step.events.iter().filter_map(phase_end).collect();
    let mut round = PlanRound {
        record,
        step,
        put_off: put_off(&observed.snapshot, &live, now),
        live,
        started: Vec::new(),
        starts_left: StartsLeft::None,
        events,
        problems,
    };
    round.problems.extend(
        phases
            .values()
            .filter_map(|dispatch| dispatch.as_ref().err()?.problem.clone()),
    );
    round.act(store, effects, &observed, &phases)?;
    Failpoint::PlanActed.reach();
    if store.plan_revision(id)? != round.record.revision {
        round.record = store.plan(id)?;
    }
    Ok(round)
}

/// Returns what was decided about a phase without asking anyone.
fn phase_end(event: &PlanEvent) -> Option<PlanStepEvent> {
    let PlanEvent::Phase { phase, event } = event else {
        return None;
    };
    let end = match event {
        PhaseEvent::Skipped { .. } => PhaseEnd::Skipped,
        PhaseEvent::GivenUp { .. } => PhaseEnd::GivenUp,
        PhaseEvent::Aborted { .. } => PhaseEnd::Aborted,
        PhaseEvent::Blocked { by, .. } => PhaseEnd::Blocked { by: by.clone() },
        _ => return None,
    };
    let phase = phase.clone();
    Some(PlanStepEvent::PhaseEnded { phase, end })
}

/// The plan's runs that have a process, or whose exit handling waits for its time.
fn live_runs(
    store: &Store,
    snapshot: &Snapshot,
    plan: &PlanId,
    now: Timestamp,
) -> Result<BTreeMap<RunId, PlanPhaseId>, RunnerError> {
    let filter = RunFilter {
        plan: Some(plan.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    let is_held = |run: &Run| {
        let seen = snapshot.live.iter().find(|live| live.run == run.id);
        // Claimed since the locks were looked at: its claimer holds the lock.
        seen.is_none_or(|live| live.lock == LockState::Held || live.waits(now))
    };
    let runs = store.runs(&filter)?.into_iter().filter(is_held);
    Ok(runs
        .filter_map(|run| match run.target {
            RunTarget::PlanPhase(_, phase) => Some((run.id, phase)),
            _ => None,
        })
        .collect())
}

/// Those of a plan's runs whose exit handling waits for its time.
fn put_off(
    snapshot: &Snapshot,
    own: &BTreeMap<RunId, PlanPhaseId>,
    now: Timestamp,
) -> BTreeSet<RunId> {
    let waiting = snapshot.live.iter().filter(|live| live.waits(now));
    waiting
        .map(|live| live.run.clone())
        .filter(|run| own.contains_key(run))
        .collect()
}

impl PlanRound {
    fn act(
        &mut self,
        store: &mut Store,
        effects: &mut LocalEffects<'_>,
        observed: &Observed,
        phases: &BTreeMap<PlanPhaseId, Result<Dispatch, Held>>,
    ) -> Result<(), RunnerError> {
        let (mut actions, mut starts) = (Vec::new(), 0);
        for action in &self.step.actions {
            match action {
                PlanAction::StartPhase { phase } => match phases.get(phase) {
                    Some(Ok(dispatch)) => {
                        starts += 1;
                        actions.push(Action::StartRun(self.start(phase, dispatch)));
                    }
                    Some(Err(_)) | None => self.starts_left = StartsLeft::AtOnce,
                },
                PlanAction::FinishRun { run, .. } => actions.push(Action::FinishCrashed {
                    run: run.clone(),
                    issue: None,
                }),
                PlanAction::EndRun { run, phase } => {
                    if !store.cancel_requested(run)? {
                        match store.request_cancel(&Context::system(effects.now()), run) {
                            Ok(_) => self.events.push(PlanStepEvent::RunEnding {
                                phase: phase.clone(),
                                run: run.clone(),
                            }),
                            // It ended on its own meanwhile.
                            Err(error) => tracing::info!(%error, "a run was not ended"),
                        }
                    }
                }
                PlanAction::AskDecision { .. } => {}
            }
        }
        // Without ticks no one else watches the supervisors of the plan's runs.
        let looks = watch_supervisors(&observed.snapshot).filter(|action| match action {
            Action::Suspect { run, .. } | Action::EndStuck { run, .. } => {
                self.live.contains_key(run)
            }
            _ => false,
        });
        actions.extend(looks);
        let done = act(store, effects, observed, &actions)?;
        self.started = done.started;
        if self.started.len() < starts && self.starts_left == StartsLeft::None {
            self.starts_left = StartsLeft::Soon;
        }
        let steps = done.events.into_iter().map(Box::new);
        self.events.extend(steps.map(PlanStepEvent::Step));
        self.problems.extend(done.problems);
        for run in &self.started {
            if let RunTarget::PlanPhase(_, phase) = &run.target {
                self.live.insert(run.id.clone(), phase.clone());
            }
        }
        Ok(())
    }

    fn start(&self, phase: &PlanPhaseId, dispatch: &Dispatch) -> StartRun {
        let progress = self.record.state.phases.get(phase);
        StartRun {
            project: self.record.project.clone(),
            target: RunTarget::PlanPhase(self.record.id.clone(), phase.clone()),
            agent: AgentType::Worker,
            phase: None,
            attempt: progress.map_or(0, |progress| progress.attempts) + 1,
            provider: dispatch.provider.clone(),
            probes: dispatch.probes.clone(),
        }
    }
}
