//! Approvals that the person who gave them took back.

use symphony_core::id::PrId;
use symphony_core::pull_request::{PrState, VerdictKind};
use symphony_core::user::Source;

use crate::database::context::Context;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::review::pull_request_query::load_pr;
use crate::review::state::set_pr_state;

/// Makes a pull request wait for a verdict again if its approval was given at a forge or a tracker. An approval that was given here
/// stays, and so does one that a later verdict replaced.
pub(crate) fn take_back_approval(
    tx: &Transaction<'_>,
    context: &Context,
    pr: PrId,
) -> Result<(), StoreError> {
    let pr = load_pr(tx, pr)?;
    let is_from_there = pr.verdict_on_head().is_some_and(|verdict| {
        verdict.kind == VerdictKind::Approved && verdict.attribution.source == Some(Source::Tracker)
    });
    if !is_from_there || !pr.state.is_open() {
        return Ok(());
    }
    tx.execute(
        "UPDATE pull_request SET verdict = NULL WHERE id = ?1",
        [pr.id.get()],
    )?;
    if pr.state == PrState::Approved {
        set_pr_state(tx, context, &pr.of, pr.id, PrState::Open)?;
    }
    Ok(())
}
