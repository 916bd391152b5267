//! States of pull requests and claims, written with their entry in the log.

use rusqlite::{Transaction, params};
use symphony_core::id::{ClaimId, IssueId, PrId};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::{PrState, PullRequestOf};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::row::to_json;
use crate::error::StoreError;
use crate::merge::intent::refuse_under_merge;

/// Writes the state of a pull request. While it is being merged, it can only become merged.
pub(crate) fn set_pr_state(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    pr: PrId,
    state: PrState,
) -> Result<(), StoreError> {
    if state == PrState::Merged {
        tx.execute(
            "UPDATE pull_request SET merge_intent = NULL WHERE id = ?1",
            [pr.get()],
        )?;
    } else {
        refuse_under_merge(tx, of)?;
    }
    tx.execute(
        "UPDATE pull_request SET state = ?2, updated_at = ?3 WHERE id = ?1",
        params![pr.get(), state.name(), context.now.as_millisecond()],
    )?;
    let is_proposal: bool = tx
        .prepare_cached("SELECT proposal IS NOT NULL FROM pull_request WHERE id = ?1")?
        .query_row([pr.get()], |row| row.get(0))?;
    let moved = if is_proposal {
        LogEvent::DoneMoved { pr, state }
    } else {
        LogEvent::PullRequestMoved { pr, state }
    };
    append(tx, context, About::of(of), &moved)
}

/// Closes an open claim for a reason that is no verdict.
pub(crate) fn reject_claim(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    claim: ClaimId,
    reason: &str,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE phase_claim SET state = 'rejected', open = 0, reasons = ?2 WHERE id = ?1",
        params![claim.get(), to_json(&[reason])],
    )?;
    let reason = reason.to_owned();
    let rejected = LogEvent::ClaimRejected { claim, reason };
    append(tx, context, About::issue(issue), &rejected)
}

/// Records that an accepted claim has had its effect.
pub(crate) fn close_claim(tx: &Transaction<'_>, claim: ClaimId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE phase_claim SET open = 0 WHERE id = ?1",
        [claim.get()],
    )?;
    Ok(())
}
