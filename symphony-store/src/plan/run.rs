//! Runs of a plan's phases: their claim, their outcome and their end.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::failure::ErrorClass;
use symphony_core::id::{PlanId, PlanPhaseId, RunId};
use symphony_core::log::LogEvent;
use symphony_core::plan::failure::FailurePatterns;
use symphony_core::plan::state::{
    PhaseEvent, PhaseOutcome, PhaseRunEnd, PhaseState, PhaseStatus, PhaseWork, PlanEvent,
    PlanStatus, is_phase_complete, route_phase_run_end,
};
use symphony_core::review_point::{PointNumber, refuse_numbers_unanswered, unanswered};
use symphony_core::run::{Run, RunError, RunStatus};

use crate::database::context::{Actor, Context};
use crate::database::open::Store;
use crate::database::row::{json as from_json, to_json};
use crate::db::{Connection, OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::plan::change::{apply_in, end_in, settle_in, write_changes, write_phase};
use crate::plan::log::append_plan;
use crate::plan::phase_end::{PhaseFinish, RecordedOutcome};
use crate::plan::record::{PlanRecord, load_head, load_phase, load_plan};
use crate::plan::refusal::PlanRefusal;
use crate::review::point::load_points;
use crate::run::claim_refusal::ClaimRefusal;
use crate::run::ending::RunFinish;
use crate::run::hand_in::{forget_refused_call, refused_call};
use crate::run::row::load_run;
use crate::run::unprepared::unprepared_phases_in_a_row;

/// Returns why a phase cannot be claimed now.
pub(crate) fn phase_refusal(
    tx: &Transaction<'_>,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<Option<ClaimRefusal>, StoreError> {
    let other: Option<String> = tx
        .query_row(
            "SELECT id FROM run WHERE plan = ?1 AND plan_phase = ?2 AND status IN ('starting', 'running')",
            [plan.as_str(), phase.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(other) = other {
        let run = crate::database::row::parsed("run id", other)?;
        return Ok(Some(ClaimRefusal::AlreadyRunning(run)));
    }
    let status = load_head(tx, plan)?.state.status;
    if !matches!(
        status,
        PlanStatus::Running | PlanStatus::AwaitingUserDecision
    ) {
        return Ok(Some(ClaimRefusal::PlanStands(status)));
    }
    let status = match load_phase(tx, plan, phase) {
        Ok(progress) => progress.status(),
        Err(StoreError::NotFound { .. }) => return Ok(Some(ClaimRefusal::PhaseGone)),
        Err(error) => return Err(error),
    };
    Ok((status != PhaseStatus::Ready).then_some(ClaimRefusal::PhaseMoved(status)))
}

/// Records that a run has started on a phase.
pub(crate) fn start_phase(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    phase: &PlanPhaseId,
    run: &RunId,
) -> Result<(), StoreError> {
    // Only this phase is loaded: reading a large plan whole for each claim would be slow.
    let mut state = load_head(tx, plan)?.state;
    state.phases = BTreeMap::from([(phase.clone(), load_phase(tx, plan, phase)?)]);
    let started = PhaseEvent::Started {
        run: Some(run.clone()),
        at: context.now,
    };
    let events = [PlanEvent::of(phase.clone(), started)];
    apply_in(tx, context, plan, &mut state, &events)?;
    if let Some(progress) = state.phases.get(phase) {
        write_phase(tx, plan, phase, progress)?;
    }
    tx.execute(
        "UPDATE plan SET revision = revision + 1 WHERE id = ?1",
        [plan.as_str()],
    )?;
    Ok(())
}

/// Returns the status that a phase's run is recorded with. If its agent reported a failure, it failed, however cleanly
/// it exited.
pub(crate) fn phase_run_status(
    tx: &Transaction<'_>,
    run: &Run,
    finish: &RunFinish,
) -> Result<(RunStatus, Option<RunError>), StoreError> {
    let outcome = load_outcome(tx, &run.id)?.map(|recorded| recorded.outcome);
    Ok(match (outcome, finish.status) {
        (Some(PhaseOutcome::Failed { error }), RunStatus::Succeeded) => (
            RunStatus::Failed,
            Some(RunError {
                class: ErrorClass::AgentFailed,
                message: error,
            }),
        ),
        _ => (finish.status, finish.error.clone()),
    })
}

/// Ends a phase's attempt, and the plan if it cannot continue.
pub(crate) fn end_phase(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    plan: &PlanId,
    phase: &PlanPhaseId,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    // The plan is read in the transaction that ends the run: phases end in parallel, and one that worked on an older
    // state would undo the end of the other.
    let before = load_plan(tx, plan)?;
    if before.state.status.is_ended() {
        return Ok(());
    }
    let mut record = before.clone();
    if let Some(event) = phase_end(tx, context, run, &before, phase, finish)? {
        let dag = before.dag()?;
        let events = [PlanEvent::of(phase.clone(), event)];
        apply_in(tx, context, plan, &mut record.state, &events)?;
        settle_in(tx, context, &mut record, &dag)?;
    }
    end_in(tx, context, &mut record)?;
    write_changes(tx, context, &before, &record)
}

/// Returns what the end of a run means for its phase; `None` when the phase was blocked, aborted or removed from the
/// plan meanwhile, and keeps its state.
fn phase_end(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    record: &PlanRecord,
    phase: &PlanPhaseId,
    finish: &RunFinish,
) -> Result<Option<PhaseEvent>, StoreError> {
    let Some(progress) = record.state.phases.get(phase) else {
        return Ok(None);
    };
    // A person may have blocked, aborted or removed the phase while the run was live: its late end must not overwrite
    // that.
    let is_owner = matches!(&progress.state, PhaseState::Running { run: owner, .. } if owner.as_ref() == Some(&run.id));
    if !is_owner {
        return Ok(None);
    }
    let nothing = PhaseFinish {
        work: PhaseWork::Unmerged("its exit handling did not get that far".to_owned()),
        artifacts: Vec::new(),
        failure_patterns: BTreeMap::new(),
    };
    let found = finish.phase.as_ref().unwrap_or(&nothing);
    let outcome = load_outcome(tx, &run.id)?.map(|recorded| recorded.outcome);
    let patterns = FailurePatterns::compile(&found.failure_patterns);
    let refused = refused_call(&run.metadata);
    let unanswered = unanswered_by_last(tx, record, phase)?;
    // The end of this run is already recorded, so it is not counted as an earlier one.
    let unprepared_before = unprepared_phases_in_a_row(tx, &record.id, phase, Some(&run.id))?;
    let end = PhaseRunEnd {
        run: &run.id,
        status: finish.status,
        error: finish.error.as_ref(),
        outcome: outcome.as_ref(),
        unprepared_before,
        refused: refused.as_ref(),
        unanswered: &unanswered,
        work: &found.work,
        artifacts: &found.artifacts,
        seed: (record.id.as_str(), phase.as_str()),
        patterns: Some(&patterns),
    };
    let policy = record.options.failure_policy();
    let event = route_phase_run_end(progress, &end, &policy, context.now);
    Ok(Some(event))
}

fn load_outcome(conn: &Connection, run: &RunId) -> Result<Option<RecordedOutcome>, StoreError> {
    let found: Option<(String, String)> = conn
        .prepare_cached("SELECT outcome, artifacts FROM plan_outcome WHERE run = ?1")?
        .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((outcome, artifacts)) = found else {
        return Ok(None);
    };
    Ok(Some(RecordedOutcome {
        outcome: from_json("outcome of a phase", &outcome)?,
        artifacts: from_json("artifacts of a phase", &artifacts)?,
    }))
}

/// Returns the `must` points without an answer if the phase is the last that can answer them: phases that are still
/// running may do so.
fn unanswered_by_last(
    conn: &Connection,
    record: &PlanRecord,
    phase: &PlanPhaseId,
) -> Result<Vec<PointNumber>, StoreError> {
    let points = unanswered(&load_points(conn, &record.id.clone().into())?);
    if points.is_empty() {
        return Ok(points);
    }
    let mut reported = BTreeSet::new();
    for (id, progress) in &record.state.phases {
        let PhaseState::Running { run: Some(run), .. } = &progress.state else {
            continue;
        };
        let outcome = load_outcome(conn, run)?.map(|recorded| recorded.outcome);
        if is_phase_complete(RunStatus::Succeeded, outcome.as_ref()) {
            reported.insert(id.clone());
        }
    }
    let is_last = record.state.is_last_to_complete(phase, &reported);
    Ok(if is_last { points } else { Vec::new() })
}

fn require_answers(
    conn: &Connection,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<(), StoreError> {
    let record = load_plan(conn, plan)?;
    Ok(refuse_numbers_unanswered(&unanswered_by_last(
        conn, &record, phase,
    )?)?)
}

impl Store {
    /// Checks that the last phase of a plan to complete leaves no `must` point of a review unanswered.
    ///
    /// # Errors
    /// Names the points without an answer.
    pub fn require_phase_answers(
        &self,
        plan: &PlanId,
        phase: &PlanPhaseId,
    ) -> Result<(), StoreError> {
        require_answers(&self.conn, plan, phase)
    }

    /// Records the outcome of a run's phase: what its agent reports, or that it exited cleanly. The agent's last report
    /// counts; a clean exit does not replace it.
    ///
    /// # Errors
    /// When the run has ended or is not on a plan's phase, or when its agent reports the last phase as complete while a
    /// `must` point of a review has no answer.
    pub fn record_phase_outcome(
        &mut self,
        context: &Context,
        run: &RunId,
        recorded: &RecordedOutcome,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let target = load_run(tx, run)?.target;
            let symphony_core::run::RunTarget::PlanPhase(plan, phase) = target else {
                return Err(PlanRefusal::NoPhase(run.clone()).into());
            };
            let if_recorded = match context.actor {
                Actor::Run(_) => {
                    // In the transaction: two phases that end at the same time must not each leave the answers to the
                    // other.
                    if recorded.outcome == PhaseOutcome::Complete {
                        require_answers(tx, &plan, &phase)?;
                    }
                    "(run) DO UPDATE SET outcome = ?2, artifacts = ?3, at = ?4"
                }
                Actor::Human(_) | Actor::System | Actor::Supervisor(_) | Actor::Tracker(_) => "DO NOTHING",
            };
            tx.execute(
                &format!(
                    "INSERT INTO plan_outcome (run, outcome, artifacts, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT {if_recorded}"
                ),
                params![
                    run.as_str(),
                    to_json(&recorded.outcome),
                    to_json(&recorded.artifacts),
                    context.now.as_millisecond()
                ],
            )?;
            forget_refused_call(tx, context)?;
            let event = LogEvent::PhaseOutcomeRecorded {
                phase,
                run: run.clone(),
                outcome: recorded.outcome.clone(),
            };
            append_plan(tx, context, &plan, &event)
        })
    }

    /// Returns the recorded outcome of a run's phase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn phase_outcome(&self, run: &RunId) -> Result<Option<RecordedOutcome>, StoreError> {
        load_outcome(&self.conn, run)
    }
}
