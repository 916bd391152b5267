//! Writes everything that follows when an issue moves: the only way to change a status.
//!
//! `symphony_core::consequence` decides. This module reads the facts and writes the effects in the caller's
//! transaction.

use symphony_core::consequence::{
    Appointment, Effect, IssueFacts, LiveRun, Mover, consequences_of_move, consequences_of_step,
};
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, IssueState, TransitionError};
use symphony_core::learning::LearningSource;
use symphony_core::pull_request::{PrState, PullRequestOf};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::gates::failures::forget_failures;
use crate::issue::case::record_case;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;
use crate::issue::write::{remove_retry, set_counts, set_issue_state, set_phase};
use crate::learning::state::settle_learnings_of;
use crate::merge::under_way::refuse_under_merge;
use crate::review::delivery_query::load_open_delivery;
use crate::review::pull_request_query::open_pr_id;
use crate::review::state::{close_delivery, confirm_open_proposal, reject_delivery, set_pr_state};
use crate::run::hold_trial::forget_ended;

/// Moves an issue inside a transaction: the only way to change a status.
pub(crate) fn move_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    event: &IssueEvent,
) -> Result<IssueState, StoreError> {
    // Checked inside the transaction: an issue that moves while its branch is being merged would leave a merge on the
    // base that its record rejects.
    refuse_under_merge(tx, &id.clone().into())?;
    confirm_open_proposal(tx, context, id, event)?;
    let facts = load_facts(tx, id)?;
    let effects = consequences_of_move(&facts, event, mover(context))
        .map_err(|source| refused(id, source))?;
    carry_out(tx, context, id, &effects)?;
    let mut after = facts;
    for effect in &effects {
        after.take(effect);
    }
    // A hold that only this issue waited for would never be probed again, since an ended issue starts no run.
    if after.state.status().is_terminal() {
        forget_ended(tx, context)?;
    }
    Ok(after.state)
}

/// Moves an issue whose phase is accepted to its next phase. Does nothing without such a delivery.
pub(crate) fn step_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
) -> Result<(), StoreError> {
    let facts = load_facts(tx, id)?;
    let effects =
        consequences_of_step(&facts, mover(context)).map_err(|source| refused(id, source))?;
    carry_out(tx, context, id, &effects)
}

/// Reads the facts that decide the consequences of a change.
pub(crate) fn load_facts(tx: &Transaction<'_>, id: &IssueId) -> Result<IssueFacts, StoreError> {
    let issue = load_issue(tx, id)?;
    let live_run = if is_live(tx, id)? {
        LiveRun::Yes
    } else {
        LiveRun::No
    };
    Ok(IssueFacts {
        state: issue.state,
        counts: issue.counts,
        pull_request: open_pr_id(tx, id)?,
        delivery: load_open_delivery(tx, id)?,
        live_run,
    })
}

/// Returns who moves an issue.
pub(crate) const fn mover(context: &Context) -> Mover {
    match context.actor {
        Actor::Run(_) => Mover::Run,
        Actor::Human(_) | Actor::System | Actor::Supervisor(_) | Actor::Tracker(_) => Mover::Other,
    }
}

pub(crate) fn refused(id: &IssueId, source: TransitionError) -> StoreError {
    StoreError::Transition {
        id: id.to_string(),
        source,
    }
}

/// Returns whether a run is live on an issue.
pub(crate) fn is_live(tx: &Transaction<'_>, issue: &IssueId) -> Result<bool, StoreError> {
    let live: Option<i64> = tx
        .prepare_cached("SELECT 1 FROM run WHERE issue = ?1 AND status IN ('starting', 'running')")?
        .query_row([issue.as_str()], |row| row.get(0))
        .optional()?;
    Ok(live.is_some())
}

/// Writes effects in their order, which is also the order in the log.
pub(crate) fn carry_out(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    effects: &[Effect],
) -> Result<(), StoreError> {
    for effect in effects {
        match effect {
            Effect::SetState(state) => set_issue_state(tx, context, id, state)?,
            Effect::DependencyMet => count_dependency(tx, id, -1)?,
            Effect::DependencyReopened => count_dependency(tx, id, 1)?,
            Effect::RemoveRetry => remove_retry(tx, id)?,
            Effect::SetCounts(counts) => set_counts(tx, id, *counts)?,
            Effect::ForgetGateFailures => forget_failures(tx, id)?,
            Effect::EndRuns => end_runs(tx, context, id)?,
            Effect::SettleLearnings => {
                settle_learnings_of(tx, context, &LearningSource::Issue(id.clone()))?;
                record_case(tx, context, id)?;
            }
            Effect::ClosePullRequest(pr) => {
                let of = PullRequestOf::from(id.clone());
                set_pr_state(tx, context, &of, *pr, PrState::Closed)?;
            }
            Effect::RejectDelivery { delivery, reason } => {
                reject_delivery(tx, context, id, *delivery, reason)?;
            }
            Effect::RecordMover => record_mover(tx, context, id)?,
            Effect::EnterPhase(phase) => set_phase(tx, id, phase)?,
            Effect::CloseDelivery(delivery) => close_delivery(tx, *delivery)?,
            Effect::Appoint(appointment) => appoint(tx, id, appointment)?,
            Effect::Comment(text) => {
                add_comment_in(tx, context, id, text)?;
            }
            Effect::Log(event) => append(tx, context, About::issue(id), event)?,
        }
    }
    Ok(())
}

fn count_dependency(tx: &Transaction<'_>, id: &IssueId, step: i64) -> Result<(), StoreError> {
    tx.prepare_cached(
        "UPDATE issue SET open_dependencies = open_dependencies + ?2
         WHERE id IN (SELECT issue FROM issue_dependency WHERE depends_on = ?1)",
    )?
    .execute(params![id.as_str(), step])?;
    Ok(())
}

// Only a request: the supervisor owns the processes, so the run is live, and its issue taken, until they are gone.
fn end_runs(tx: &Transaction<'_>, context: &Context, id: &IssueId) -> Result<(), StoreError> {
    tx.prepare_cached(
        "UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, ?2)
         WHERE issue = ?1 AND status IN ('starting', 'running')",
    )?
    .execute(params![id.as_str(), context.now.as_millisecond()])?;
    Ok(())
}

fn record_mover(tx: &Transaction<'_>, context: &Context, id: &IssueId) -> Result<(), StoreError> {
    if let Actor::Run(key) = &context.actor {
        tx.prepare_cached("UPDATE run SET moved_issue = 1 WHERE id = ?1 AND issue = ?2")?
            .execute([key.run.as_str(), id.as_str()])?;
    }
    Ok(())
}

fn appoint(
    tx: &Transaction<'_>,
    id: &IssueId,
    appointment: &Appointment,
) -> Result<(), StoreError> {
    let Appointment {
        agent,
        attempt,
        plan,
    } = appointment;
    tx.execute(
        "INSERT INTO retry (issue, agent, kind, due_at, attempt, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (issue) DO UPDATE SET agent = ?2, kind = ?3, due_at = ?4, attempt = ?5, reason = ?6",
        params![
            id.as_str(),
            agent.name(),
            plan.kind.name(),
            plan.due_at.as_millisecond(),
            attempt,
            plan.reason
        ],
    )?;
    Ok(())
}
