//! A plan with what is on hold, and beside its base branch while it is under review.

use symphony_core::Timestamp;
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_runner::tick::observe_snapshot;
use symphony_store::PlanRecord;

use crate::PlanView;

/// Reads a plan.
///
/// # Errors
/// When the database or the base branch cannot be read.
pub fn plan(
    session: &mut Session,
    record: &PlanRecord,
    now: Timestamp,
) -> Result<PlanView, RunnerError> {
    let holds = session.store.holds()?;
    let view = PlanView::of(
        &session.store,
        &session.project,
        record,
        &session.configured_gates(),
    )?
    .with_holds(&holds);
    if !view.is_under_review() {
        return Ok(view);
    }
    let snapshot = observe_snapshot(&session.installation, &mut session.store, now)?;
    Ok(view.with_base(&snapshot.base))
}
