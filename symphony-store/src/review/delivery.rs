//! Deliveries of phases: submitted by a phase's agent, and settled once their content is committed.
//!
//! Intent, effect, outcome: a delivery that passed its checks is recorded as `submitted`, then the caller commits the
//! worktree, then the delivery is settled with that commit. A delivery that is still `submitted` when its run ends is
//! rejected.

use symphony_core::contract::{Delivery, DeliveryState};
use symphony_core::id::{DeliveryId, IssueId, PhaseName, RunId};
use symphony_core::issue::{Issue, IssueEvent, IssueStatus, check_required_text, check_text};
use symphony_core::log::LogEvent;
use symphony_core::review_point::refuse_unanswered;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::check_run_limit;
use crate::issue::query::load_issue;
use crate::review::delivery_query::{load_delivery, load_open_delivery};
use crate::review::point::load_points;
use crate::review::refusal::ReviewRefusal;
use crate::review::state::reject_delivery;
use crate::run::hand_in::forget_refused_call;

/// How many deliveries one run may make, refused ones included. A run that makes more is looping.
const RUN_DELIVERIES_MAX: i64 = 50;

/// A delivery to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// The artifact, relative to the worktree.
    pub artifact_path: Option<String>,
    /// The agent's summary.
    pub summary: String,
    /// The later phase that the agent asks to continue with.
    pub skip_to: Option<PhaseName>,
    /// The phase that the issue moves to when the delivery is accepted.
    pub next_phase: Option<PhaseName>,
}

/// Who decides on a delivery whose checks passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// No one: it is accepted.
    Accepted,
    /// A judge: the issue moves to `review`.
    AwaitingJudge,
}

impl Store {
    /// Records a delivery that failed its checks. The issue keeps its status.
    ///
    /// # Errors
    /// When the issue does not exist, it is in another phase now, a field breaks a limit, or the run has made too many
    /// deliveries.
    pub fn refuse_delivery(
        &mut self,
        context: &Context,
        new: &NewDelivery,
        reasons: &[String],
    ) -> Result<Delivery, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = deliverable(tx, context, new)?;
            let id = insert(tx, context, &issue, new, DeliveryState::Rejected, reasons)?;
            load_delivery(tx, id)
        })
    }

    /// Records a delivery that passed its checks, before its content is committed. It replaces an open delivery of an
    /// earlier run.
    ///
    /// # Errors
    /// When the issue is not in progress, a `must` point of a review has no answer, its phase is another one now, this
    /// run already has a delivery, a field breaks a limit, or the run has made too many deliveries.
    pub fn submit_delivery(
        &mut self,
        context: &Context,
        new: &NewDelivery,
    ) -> Result<Delivery, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = deliverable(tx, context, new)?;
            if issue.state.status() != IssueStatus::InProgress {
                let status = issue.state.status();
                let issue = issue.id;
                return Err(ReviewRefusal::NotInProgress { issue, status }.into());
            }
            refuse_unanswered(&load_points(tx, &issue.id.clone().into())?)?;
            if let Some(open) = load_open_delivery(tx, &issue.id)? {
                make_room(tx, context, &open)?;
            }
            let id = insert(tx, context, &issue, new, DeliveryState::Submitted, &[])?;
            forget_refused_call(tx, context)?;
            load_delivery(tx, id)
        })
    }

    /// Settles a submitted delivery on the commit that has its content. If it needs a judge, the issue moves to
    /// `review`.
    ///
    /// # Errors
    /// When the delivery is no longer submitted, or the issue may not move to `review`.
    pub fn settle_delivery(
        &mut self,
        context: &Context,
        id: DeliveryId,
        settlement: Settlement,
        commit: &str,
        warnings: &[String],
    ) -> Result<Delivery, StoreError> {
        self.write(context, |tx| {
            // Another process may have ended the run, and rejected its delivery, while the worktree was being
            // committed.
            let delivery = load_delivery(tx, id)?;
            if delivery.state != DeliveryState::Submitted {
                let (delivery, state) = (id, delivery.state);
                return Err(ReviewRefusal::Settled { delivery, state }.into());
            }
            let state = match settlement {
                Settlement::Accepted => DeliveryState::Accepted,
                Settlement::AwaitingJudge => {
                    move_in(tx, context, &delivery.issue, &IssueEvent::PhaseDelivered)?;
                    DeliveryState::AwaitingJudge
                }
            };
            tx.execute(
                "UPDATE phase_claim SET state = ?2, head_commit = ?3, reasons = ?4 WHERE id = ?1",
                params![id.get(), state.name(), commit, to_json(warnings)],
            )?;
            let settled = LogEvent::DeliverySettled {
                delivery: id,
                state,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&delivery.issue), &settled)?;
            load_delivery(tx, id)
        })
    }

    /// Withdraws a submitted delivery because its content could not be committed.
    ///
    /// # Errors
    /// When the delivery does not exist.
    pub fn withdraw_delivery(
        &mut self,
        context: &Context,
        id: DeliveryId,
        reason: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let delivery = load_delivery(tx, id)?;
            if delivery.state == DeliveryState::Submitted {
                reject_delivery(tx, context, &delivery.issue, delivery.id, reason)?;
            }
            Ok(())
        })
    }

    /// Records that the branch of a delivery that waits for a judge has a new head, so that the judge looks at that
    /// one.
    ///
    /// # Errors
    /// When the delivery does not wait for a judge.
    pub fn move_delivery_head(
        &mut self,
        context: &Context,
        id: DeliveryId,
        commit: &str,
    ) -> Result<Delivery, StoreError> {
        self.write(context, |tx| {
            let delivery = load_delivery(tx, id)?;
            if !delivery.awaits_judge() {
                let (delivery, state) = (id, delivery.state);
                return Err(ReviewRefusal::NothingToJudge { delivery, state }.into());
            }
            tx.execute(
                "UPDATE phase_claim SET head_commit = ?2 WHERE id = ?1",
                params![id.get(), commit],
            )?;
            let moved = LogEvent::DeliveryHeadMoved {
                delivery: id,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&delivery.issue), &moved)?;
            load_delivery(tx, id)
        })
    }
}

fn check_fields(new: &NewDelivery) -> Result<(), StoreError> {
    check_required_text("summary", &new.summary)?;
    if let Some(path) = &new.artifact_path {
        check_text("artifact_path", path)?;
    }
    Ok(())
}

/// Returns the issue if it is in the delivery's phase and the run may make another delivery.
fn deliverable(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewDelivery,
) -> Result<Issue, StoreError> {
    check_run_limit(tx, context, "phase_claim", RUN_DELIVERIES_MAX)?;
    let issue = load_issue(tx, &new.issue)?;
    let phase = issue.phase();
    if phase.as_ref() == Some(&new.phase) {
        return Ok(issue);
    }
    Err(ReviewRefusal::DeliverySuperseded {
        delivered: new.phase.clone(),
        issue: issue.id,
        phase,
    }
    .into())
}

/// Closes the open delivery if an earlier run made it, or if this run made it but never settled it. Otherwise this
/// run's delivery is kept.
fn make_room(tx: &Transaction<'_>, context: &Context, open: &Delivery) -> Result<(), StoreError> {
    let own = open.run.as_ref() == context.actor.run();
    if own && open.state != DeliveryState::Submitted {
        return Err(ReviewRefusal::Delivered {
            phase: open.phase.clone(),
            delivery: open.id,
            state: open.state,
        }
        .into());
    }
    reject_delivery(
        tx,
        context,
        &open.issue,
        open.id,
        "a later delivery replaced it",
    )
}

fn insert(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &Issue,
    new: &NewDelivery,
    state: DeliveryState,
    reasons: &[String],
) -> Result<DeliveryId, StoreError> {
    let id = tx.query_row(
        "INSERT INTO phase_claim (project, issue, phase, artifact_path, summary, skip_to, next_phase, run, author, state, reasons, open, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING id",
        params![
            issue.project.as_str(),
            issue.id.as_str(),
            new.phase.as_str(),
            new.artifact_path,
            new.summary,
            new.skip_to.as_ref().map(PhaseName::as_str),
            new.next_phase.as_ref().map(PhaseName::as_str),
            context.actor.run().map(RunId::as_str),
            context.actor.author().name(),
            state.name(),
            to_json(reasons),
            state == DeliveryState::Submitted,
            context.now.as_millisecond(),
        ],
        |row| row.get(0),
    )?;
    let id = DeliveryId::new(id);
    let delivered = LogEvent::PhaseDelivered {
        delivery: id,
        phase: new.phase.clone(),
        state,
        reasons: reasons.to_vec(),
    };
    append(tx, context, About::issue(&issue.id), &delivered)?;
    Ok(id)
}
