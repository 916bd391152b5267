//! Writes the states of pull requests and deliveries, with their log entries.

use symphony_core::id::{DeliveryId, IssueId, PrId};
use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::log::LogEvent;
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::row::to_json;
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::merge::under_way::refuse_under_merge;
use crate::plan::record::load_head;
use crate::review::pull_request_query::load_open_pr;
use crate::review::refusal::ReviewRefusal;

/// Writes the state of a pull request. While it is being merged, its only next state is merged.
pub(crate) fn set_pr_state(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    pr: PrId,
    state: PrState,
) -> Result<(), StoreError> {
    // The intent goes with the record of the merge: without either, a merge that moved the base would look like one
    // made outside.
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

/// Closes an open delivery for a reason other than a verdict.
pub(crate) fn reject_delivery(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    delivery: DeliveryId,
    reason: &str,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE phase_claim SET state = 'rejected', open = 0, reasons = ?2 WHERE id = ?1",
        params![delivery.get(), to_json(&[reason])],
    )?;
    let reason = reason.to_owned();
    let rejected = LogEvent::DeliveryRejected { delivery, reason };
    append(tx, context, About::issue(issue), &rejected)
}

/// Records that an accepted delivery has taken effect.
pub(crate) fn close_delivery(tx: &Transaction<'_>, delivery: DeliveryId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE phase_claim SET open = 0 WHERE id = ?1",
        [delivery.get()],
    )?;
    Ok(())
}

/// Confirms the open proposal of an issue that ends as done, whoever ends it.
pub(crate) fn confirm_open_proposal(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    event: &IssueEvent,
) -> Result<(), StoreError> {
    if !event.declares_done() {
        return Ok(());
    }
    match load_open_pr(tx, issue)?.filter(|open| open.proposal.is_some()) {
        Some(open) => set_pr_state(tx, context, &open.of, open.id, PrState::Confirmed),
        None => Ok(()),
    }
}

/// Refuses a pull request whose issue or plan is not in review.
pub(crate) fn refuse_not_in_review(conn: &Connection, pr: &PullRequest) -> Result<(), StoreError> {
    let refusal = match pr.of.clone() {
        PullRequestOf::Issue(issue) => {
            let status = load_issue(conn, &issue)?.state.status();
            (status != IssueStatus::Review)
                .then_some(ReviewRefusal::IssueNotInReview { issue, status })
        }
        PullRequestOf::Plan(plan) => {
            let status = load_head(conn, &plan)?.state.status;
            (status != PlanStatus::Review)
                .then_some(ReviewRefusal::PlanNotInReview { plan, status })
        }
    };
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}
