//! How the end of a review changes its plan.

use symphony_core::id::{PlanId, PrId};
use symphony_core::log::LogEvent;
use symphony_core::outside::NoticeKind;
use symphony_core::plan::state::{PlanEvent, PlanStatus};

use crate::database::context::Context;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::plan::change::{apply_in, write_changes};
use crate::plan::log::append_plan;
use crate::plan::record::{PlanRecord, load_plan};

/// Removes the notice that a plan's base lost work, because the work is there again.
pub(crate) fn forget_lost_base(tx: &Transaction<'_>, plan: &PlanId) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM base_notice WHERE plan = ?1 AND kind = ?2",
        params![plan.as_str(), NoticeKind::BaseLost.name()],
    )?;
    Ok(())
}

/// Applies one event to a plan and writes what it changes.
pub(crate) fn move_plan(
    tx: &Transaction<'_>,
    context: &Context,
    before: &PlanRecord,
    event: PlanEvent,
) -> Result<PlanRecord, StoreError> {
    let mut record = before.clone();
    apply_in(tx, context, &before.id, &mut record.state, &[event])?;
    write_changes(tx, context, before, &record)?;
    Ok(record)
}

/// Makes a plan whose pull request was rejected wait for a person. A plan that is not in review is left unchanged.
pub(crate) fn reject_plan_review(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    pr: PrId,
) -> Result<(), StoreError> {
    let before = load_plan(tx, plan)?;
    if before.state.status == PlanStatus::Review {
        move_plan(tx, context, &before, PlanEvent::ReviewRejected { pr })?;
    }
    Ok(())
}

/// Completes a plan whose work is on the user's branch. Its branches and worktrees are removed later, by a tick or a
/// command.
pub(crate) fn end_merged_plan(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
    merged: &str,
) -> Result<(), StoreError> {
    let before = load_plan(tx, plan)?;
    let mut record = before.clone();
    if !record.state.status.is_ended() {
        let ended = PlanEvent::Ended {
            status: PlanStatus::Completed,
            at: context.now,
        };
        apply_in(tx, context, plan, &mut record.state, &[ended])?;
    }
    record.merged_commit = Some(merged.to_owned());
    write_changes(tx, context, &before, &record)?;
    end_review_runs(tx, context, plan)?;
    // The user's branch now has what the plan's base had, so a plan that is reopened starts with a new base.
    tx.execute(
        "UPDATE plan SET needs_clean_up = CASE status WHEN 'completed' THEN 1 ELSE 0 END, base_head = NULL WHERE id = ?1",
        [plan.as_str()],
    )?;
    forget_lost_base(tx, plan)?;
    let commit = merged.to_owned();
    append_plan(tx, context, plan, &LogEvent::PlanMerged { commit })
}

/// Asks the judge and the gates that run on a plan's pull request to end.
pub(crate) fn end_review_runs(
    tx: &Transaction<'_>,
    context: &Context,
    plan: &PlanId,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
         WHERE plan = ?1 AND pull_request IS NOT NULL AND status IN ('starting', 'running')",
        params![plan.as_str(), context.now.as_millisecond()],
    )?;
    Ok(())
}
