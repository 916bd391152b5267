//! A person's orders for a plan: decisions, retries, skips, the end, a pause.

use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::Dag;
use symphony_core::plan::state::{
    Choice, Decision, PhaseState, PlanEvent, PlanStatus, PlanTransitionError, abort_all,
    abort_branch, decide, retry_failed, retry_phase, skip_phase,
};
use symphony_core::run::RunTarget;
use symphony_store::{Context, PlanRecord, Project, RunFilter, Store};

use super::state_file::write_state_file;
use crate::error::RunnerError;

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanOrder {
    /// Answers a phase that awaits a decision.
    Decide(PlanPhaseId, Choice),
    /// Lets a phase begin again, now if it waits for its retry.
    Retry(PlanPhaseId),
    /// Lets every failed and aborted phase begin again.
    RetryFailed,
    /// Skips a phase.
    Skip(PlanPhaseId),
    /// Gives up a phase, and everything that depends on it.
    Abort(PlanPhaseId),
    /// Gives the plan up.
    AbortAll,
    /// Starts no more phases.
    Pause,
    /// Starts phases again.
    Resume,
}

impl PlanOrder {
    /// Says where the order has brought what it is about.
    pub fn outcome(&self, record: &PlanRecord) -> String {
        let progress = |phase| record.state.phases.get(phase);
        match self {
            Self::Decide(
                phase,
                Choice::RetryOnceMore | Choice::SkipPhase | Choice::AbortBranch,
            )
            | Self::Retry(phase)
            | Self::Skip(phase)
            | Self::Abort(phase) => match progress(phase).map(|progress| &progress.state) {
                Some(PhaseState::Complete { skipped: true }) => format!("phase {phase} is skipped"),
                _ => format!(
                    "phase {phase} is {}",
                    record.state.phase_status(phase).words()
                ),
            },
            Self::Decide(_, Choice::AbortAll) | Self::AbortAll
                if record.state.is_abort_requested && !record.state.status.is_ended() =>
            {
                format!("{} is being aborted", record.path)
            }
            _ => format!("{} is {}", record.path, record.state.status.words()),
        }
    }

    fn decide(
        &self,
        record: &PlanRecord,
        dag: &Dag,
        now: Timestamp,
    ) -> Result<Decision, PlanTransitionError> {
        let state = &record.state;
        let plain = |event| Decision {
            events: vec![event],
            warnings: Vec::new(),
        };
        match self {
            Self::Decide(phase, choice) => decide(dag, state, phase, *choice, now),
            Self::Retry(phase) => retry_phase(state, phase),
            Self::RetryFailed => Ok(told_if_nothing(retry_failed(state))),
            Self::Skip(phase) => skip_phase(dag, state, phase, now),
            Self::Abort(phase) => abort_branch(state, phase, now),
            // If it was given up already, another order to do so succeeds.
            Self::AbortAll
                if matches!(state.status, PlanStatus::Completed | PlanStatus::Failed) =>
            {
                let from = state.status;
                Err(PlanTransitionError::NothingLeft { from })
            }
            Self::AbortAll => Ok(abort_all(state, now)),
            // The work was not accepted: it is offered as it is now, perhaps with commits that a person added.
            Self::Resume
                if state.status == PlanStatus::AwaitingUserDecision && state.is_complete() =>
            {
                Ok(plain(PlanEvent::Continued))
            }
            // A pause would replace the question, and its end would answer it.
            Self::Pause
                if state.status == PlanStatus::AwaitingUserDecision && state.is_complete() =>
            {
                let nothing = "the plan is waiting for you and starts nothing before you decide, so there is nothing \
                               to pause";
                Ok(Decision {
                    warnings: vec![nothing.to_owned()],
                    ..Decision::default()
                })
            }
            // Repeating the order succeeds.
            Self::Pause if state.status == PlanStatus::Paused => Ok(Decision::default()),
            Self::Resume
                if matches!(
                    state.status,
                    PlanStatus::Running | PlanStatus::AwaitingUserDecision | PlanStatus::Review
                ) =>
            {
                Ok(Decision::default())
            }
            Self::Pause => Ok(plain(PlanEvent::Paused)),
            Self::Resume => Ok(plain(PlanEvent::Resumed)),
        }
    }
}

fn told_if_nothing(mut decision: Decision) -> Decision {
    if decision.events.is_empty() {
        let nothing = "no phase has failed or was aborted: there is nothing to retry";
        decision.warnings.push(nothing.to_owned());
    }
    decision
}

/// Carries an order out, with its consequences; returns the plan afterwards, and what the person should know. Runs that
/// are left without a phase are asked to end; their supervisors do so whether a process drives the plan or not.
///
/// # Errors
/// When there is no such plan or phase, or the order does not fit its state.
pub fn carry_out_order(
    store: &mut Store,
    context: &Context,
    project: &Project,
    plan: &PlanId,
    order: &PlanOrder,
) -> Result<(PlanRecord, Vec<String>), RunnerError> {
    let now = context.now;
    let changed = store.change_plan(context, plan, |record, dag| {
        let decision = order.decide(record, dag, now)?;
        Ok((decision.events, decision.warnings))
    })?;
    end_stray_runs(store, context, &changed.0)?;
    write_state_file(store, project, plan)?;
    Ok(changed)
}

fn end_stray_runs(
    store: &mut Store,
    context: &Context,
    record: &PlanRecord,
) -> Result<(), RunnerError> {
    let filter = RunFilter {
        plan: Some(record.id.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    for run in store.runs(&filter)? {
        let RunTarget::PlanPhase(_, phase) = &run.target else {
            continue;
        };
        let state = record.state.phases.get(phase).map(|found| &found.state);
        let is_owner = matches!(state, Some(PhaseState::Running { run: owner, .. }) if owner.as_ref() == Some(&run.id));
        if !is_owner && let Err(error) = store.request_cancel(context, &run.id) {
            // It ended on its own meanwhile; the plan's next round looks again.
            tracing::info!(%error, run = %run.id, "a run was not ended");
        }
    }
    Ok(())
}
