//! The spending caps of a run: checked before it starts, while it works (`watch.rs`) and at its end.

use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::run::Usage;
use symphony_core::spending::{
    CapReached, SpentSoFar, cap_reached, is_capped, issue_cap_reached, usd_left,
};
use symphony_core::unit::UsdMicros;
use symphony_mcp::StoreThread;

use super::Job;
use super::outcome::AgentOutcome;
use crate::error::RunnerError;

/// Reads the recorded spending; `None` when the project has no cap.
pub(crate) async fn spent_so_far(
    job: &Job<'_>,
    store: &StoreThread,
) -> Result<Option<SpentSoFar>, RunnerError> {
    if !is_capped(&job.config.spending) {
        return Ok(None);
    }
    let run = job.run.id.clone();
    let spent = store
        .call(move |store| store.spent_so_far(&run, Timestamp::now()))
        .await??;
    Ok(Some(spent))
}

/// Returns the money that a run may spend, if that is capped. Refuses a run that could not spend anything.
pub(crate) async fn budget(
    job: &Job<'_>,
    store: &StoreThread,
) -> Result<Option<UsdMicros>, RunnerError> {
    let Some(spent) = spent_so_far(job, store).await? else {
        return Ok(None);
    };
    let caps = &job.config.spending;
    match cap_reached(caps, &spent.with(&Usage::default())) {
        Some(cap) => Err(RunnerError::OverBudget { cap }),
        None => Ok(usd_left(caps, &spent)),
    }
}

/// Returns the cap that ended a run, or the cap of its issue if that is reached anyway.
pub(crate) async fn cap_at_end(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: &AgentOutcome,
) -> Result<Option<CapReached>, RunnerError> {
    let Some(spent) = spent_so_far(job, store).await? else {
        return Ok(None);
    };
    let spent = match &outcome.usage {
        Some(usage) => spent.with(usage),
        None => spent,
    };
    let class = outcome.error.as_ref().map(|error| error.class);
    let caps = &job.config.spending;
    Ok(if class == Some(ErrorClass::BudgetExhausted) {
        cap_reached(caps, &spent)
    } else {
        issue_cap_reached(caps, &spent)
    })
}
