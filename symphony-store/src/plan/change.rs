//! Changes of a plan. Each goes through [`symphony_core::plan::state::apply`], whoever makes it, and is written with
//! what follows for other phases in one transaction.

use symphony_core::id::{PlanId, PlanPhaseId, RunId};
use symphony_core::learning::{LearningSource, SourceEnd};
use symphony_core::log::LogEvent;
use symphony_core::plan::state::{
    PhaseProgress, PhaseState, PlanEvent, PlanState, PlanTransitionError, apply, settle,
};
use symphony_core::plan::{Artifact, Dag};

use crate::database::context::Context;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::learning::state::settle_learnings_of;
use crate::plan::log::append_plan;
use crate::plan::record::{PlanRecord, plan_under_way};
use crate::plan::refusal::PlanRefusal;

/// Applies events and logs them.
pub(crate) fn apply_in(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    state: &mut PlanState,
    events: &[PlanEvent],
) -> Result<(), StoreError> {
    for event in events {
        apply(state, event).map_err(|source| refused(plan, source))?;
        append_plan(tx, context, plan, &LogEvent::PlanChanged(event.clone()))?;
    }
    Ok(())
}

pub(crate) fn refused(plan: &PlanId, source: PlanTransitionError) -> StoreError {
    StoreError::PlanTransition {
        plan: plan.clone(),
        source,
    }
}

/// Applies what follows from the graph.
pub(crate) fn settle_in(
    tx: &Transaction<'_>,
    context: &Context,
    record: &mut PlanRecord,
    dag: &Dag,
) -> Result<(), StoreError> {
    let events = settle(dag, &record.state, context.now);
    apply_in(tx, context, &record.id, &mut record.state, &events)
}

/// Ends a plan that cannot continue and has no live run, whichever change led there. A plan that completed with work on
/// a branch of its own does not end: its pull request comes next.
pub(crate) fn end_in(
    tx: &Transaction<'_>,
    context: &Context,
    record: &mut PlanRecord,
) -> Result<(), StoreError> {
    let Some(status) = record.state.end_status(record.completion()) else {
        return Ok(());
    };
    // The end of a live run is routed through its plan. Ended before that run, the plan would drop its outcome.
    if record.state.status.is_ended() || has_live_run(tx, &record.id)? {
        return Ok(());
    }
    let ended = PlanEvent::Ended {
        status,
        at: context.now,
    };
    apply_in(tx, context, &record.id, &mut record.state, &[ended])
}

fn has_live_run(tx: &Transaction<'_>, plan: &PlanId) -> Result<bool, StoreError> {
    Ok(tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM run WHERE plan = ?1 AND plan_phase IS NOT NULL AND status IN ('starting', 'running'))",
        )?
        .query_row([plan.as_str()], |row| row.get(0))?)
}

/// Writes what differs between two states of a plan, if anything does.
pub(crate) fn write_changes(
    tx: &Transaction<'_>,
    context: &Context,
    before: &PlanRecord,
    after: &PlanRecord,
) -> Result<(), StoreError> {
    if before == after {
        return Ok(());
    }
    let state = &after.state;
    // A plan that continues after its end will have more work to merge than what was already merged.
    let has_gone_on = before.state.status.is_ended() && !state.status.is_ended();
    if has_gone_on && let Some(other) = plan_under_way(tx, &after.project, &after.path)? {
        return Err(PlanRefusal::UnderWay {
            path: after.path.clone(),
            other,
            waiting: Some(after.id.clone()),
        }
        .into());
    }
    let merged_commit = after.merged_commit.as_ref().filter(|_| !has_gone_on);
    tx.prepare_cached(
        "UPDATE plan SET document = ?2, options = ?3, status = ?4, is_abort_requested = ?5, completed_at = ?6,
                merged_commit = ?7, revision = revision + 1 WHERE id = ?1",
    )?
    .execute(params![
        after.id.as_str(),
        to_json(&after.document),
        to_json(&after.options),
        state.status.name(),
        state.is_abort_requested,
        state.completed_at.map(symphony_core::Timestamp::as_millisecond),
        merged_commit,
    ])?;
    if SourceEnd::from(before.state.status) != SourceEnd::from(state.status) {
        settle_learnings_of(tx, context, &LearningSource::Plan(after.id.clone()))?;
    }
    for phase in before.state.phases.keys() {
        if !state.phases.contains_key(phase) {
            remove_phase(tx, &after.id, phase)?;
        }
    }
    for (phase, progress) in &state.phases {
        let old = before.state.phases.get(phase);
        if old != Some(progress) {
            write_phase(tx, &after.id, phase, progress)?;
            let artifacts = old.map_or(&[][..], |old| &old.artifacts);
            if artifacts != progress.artifacts {
                write_artifacts(tx, &after.id, phase, &progress.artifacts)?;
            }
        }
    }
    Ok(())
}

/// Writes the state of a phase; its artifacts have rows of their own.
pub(crate) fn write_phase(
    tx: &Transaction<'_>,
    plan: &PlanId,
    phase: &PlanPhaseId,
    progress: &PhaseProgress,
) -> Result<(), StoreError> {
    let run = match &progress.state {
        PhaseState::Running { run, .. } => run.as_ref(),
        _ => None,
    };
    let without_artifacts = PhaseProgress {
        artifacts: Vec::new(),
        ..progress.clone()
    };
    tx.prepare_cached(
        "INSERT INTO plan_phase (plan, phase, status, run, progress) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (plan, phase) DO UPDATE SET status = ?3, run = ?4, progress = ?5",
    )?
    .execute(params![
        plan.as_str(),
        phase.as_str(),
        progress.status().name(),
        run.map(RunId::as_str),
        to_json(&without_artifacts),
    ])?;
    Ok(())
}

fn write_artifacts(
    tx: &Transaction<'_>,
    plan: &PlanId,
    phase: &PlanPhaseId,
    artifacts: &[Artifact],
) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM plan_artifact WHERE plan = ?1 AND phase = ?2",
        [plan.as_str(), phase.as_str()],
    )?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO plan_artifact (plan, phase, number, type, path, name, content, metadata)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (number, artifact) in (1_i64..).zip(artifacts) {
        insert.execute(params![
            plan.as_str(),
            phase.as_str(),
            number,
            artifact.kind.name(),
            artifact.path,
            artifact.name,
            artifact.content,
            artifact.metadata.as_ref().map(to_json),
        ])?;
    }
    Ok(())
}

fn remove_phase(
    tx: &Transaction<'_>,
    plan: &PlanId,
    phase: &PlanPhaseId,
) -> Result<(), StoreError> {
    for table in ["plan_artifact", "plan_phase"] {
        tx.execute(
            &format!("DELETE FROM {table} WHERE plan = ?1 AND phase = ?2"),
            [plan.as_str(), phase.as_str()],
        )?;
    }
    Ok(())
}
