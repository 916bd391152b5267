//! Orders about plans: retry, skip or give up a phase; pause or resume a plan.

use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_runner::plan::{PlanOrder, carry_out_order};
use symphony_runner::session::Session;

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

/// Lets a phase begin again; without one, every phase that failed or was given up.
pub(crate) fn retry_plan(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let order = phase(fields)?.map_or(PlanOrder::RetryFailed, PlanOrder::Retry);
    carry_out(session, turn, id, &order)
}

/// Skips a phase.
pub(crate) fn skip_phase(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let phase = phase(fields)?.ok_or_else(|| Failure::Wrong("name the phase".to_owned()))?;
    carry_out(session, turn, id, &PlanOrder::Skip(phase))
}

/// Gives a phase up, with everything that depends on it; without one, the plan.
pub(crate) fn abort_plan(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let order = phase(fields)?.map_or(PlanOrder::AbortAll, PlanOrder::Abort);
    carry_out(session, turn, id, &order)
}

/// Starts no more phases.
pub(crate) fn pause_plan(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    carry_out(session, turn, id, &PlanOrder::Pause)
}

/// Starts phases again.
pub(crate) fn resume_plan(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    carry_out(session, turn, id, &PlanOrder::Resume)
}

fn phase(fields: &Fields) -> Result<Option<PlanPhaseId>, Failure> {
    let named = fields.given("phase").map(PlanPhaseId::parse).transpose();
    named.map_err(|error| Failure::Wrong(error.to_string()))
}

fn carry_out(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    order: &PlanOrder,
) -> Result<Done, Failure> {
    let plan = PlanId::parse(id)
        .map_err(|_malformed| Failure::NotFound(format!("there is no plan `{id}`")))?;
    let (record, warnings) = carry_out_order(
        &mut session.store,
        &turn.context(),
        &session.project,
        &plan,
        order,
    )?;
    let mut said = vec![format!("Plan {plan}: {}.", order.outcome(&record))];
    said.extend(warnings.iter().map(|warning| format!("Note: {warning}.")));
    Ok(Done {
        to: format!("/plans/{plan}"),
        said: said.join(" "),
    })
}
