//! What a person orders of a plan: decisions, retries, skips, the end, a pause.

use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::Dag;
use symphony_core::plan::state::{
    Choice, Decision, PlanEvent, PlanTransitionError, abort_all, abort_branch, decide,
    retry_failed, retry_phase, skip_phase,
};
use symphony_store::{Context, PlanRecord, Project, Store};

use super::state_file::write_state_file;
use crate::error::RunnerError;

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanOrder {
    /// Answers a phase that awaits a decision.
    Decide(PlanPhaseId, Choice),
    /// Lets a phase begin anew, or at once.
    Retry(PlanPhaseId),
    /// Lets every failed and aborted phase begin anew.
    RetryFailed,
    /// Passes over a phase.
    Skip(PlanPhaseId),
    /// Gives a phase up, and everything behind it.
    Abort(PlanPhaseId),
    /// Gives the plan up.
    AbortAll,
    /// Starts nothing more.
    Pause,
    /// Starts phases again.
    Resume,
}

impl PlanOrder {
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
            Self::RetryFailed => Ok(retry_failed(state)),
            Self::Skip(phase) => skip_phase(dag, state, phase, now),
            Self::Abort(phase) => abort_branch(state, phase, now),
            Self::AbortAll => Ok(abort_all(state, now)),
            Self::Pause => Ok(plain(PlanEvent::Paused)),
            Self::Resume => Ok(plain(PlanEvent::Resumed)),
        }
    }
}

/// Carries an order out, with what follows from it; returns the plan as it stands then, and what the person should know.
/// Runs that it leaves without a phase are ended by the plan's next round.
///
/// # Errors
/// When there is no such plan or phase, or the order does not fit where it stands.
pub fn carry_out_order(
    store: &mut Store,
    project: &Project,
    plan: &PlanId,
    order: &PlanOrder,
) -> Result<(PlanRecord, Vec<String>), RunnerError> {
    let now = Timestamp::now();
    let changed = store.change_plan(&Context::human(now), plan, |record, dag| {
        let decision = order.decide(record, dag, now)?;
        Ok((decision.events, decision.warnings))
    })?;
    write_state_file(store, project, plan)?;
    Ok(changed)
}
