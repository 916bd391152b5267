//! Phase claims: submitted by a phase's agent, settled once what they are about is committed.
//!
//! Intent, effect, outcome: a delivery whose checks passed is recorded as `submitted`, then its caller commits the worktree,
//! then the delivery is settled with that commit. One that is still `submitted` when its run ends is rejected.

use rusqlite::{Transaction, params};
use symphony_core::contract::{Delivery, DeliveryState};
use symphony_core::id::{DeliveryId, IssueId, PhaseName, RunId};
use symphony_core::issue::{Issue, IssueEvent, IssueStatus, check_required_text, check_text};
use symphony_core::log::LogEvent;
use symphony_core::review_point::refuse_unanswered;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::check_run_limit;
use crate::issue::query::load_issue;
use crate::review::delivery_query::{load_delivery, load_open_delivery};
use crate::review::point::load_points;
use crate::review::refusal::ReviewRefusal;
use crate::review::state::reject_delivery;
use crate::run::hand_in::forget_refused_call;

/// Claims that one run may make, refused ones included: more is a loop.
const RUN_CLAIMS_MAX: i64 = 50;

/// A claim to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// The artifact, relative to the worktree.
    pub artifact_path: Option<String>,
    /// What the agent says of it.
    pub summary: String,
    /// The later phase that it asks to go on with.
    pub skip_to: Option<PhaseName>,
    /// The phase that the issue goes to when it is accepted.
    pub next_phase: Option<PhaseName>,
}

/// Who decides on a delivery whose checks passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// Nobody: it is accepted.
    Accepted,
    /// A judge: the issue goes to `review`.
    AwaitingJudge,
}

impl Store {
    /// Records a delivery that its checks refused; the issue stays where it is.
    ///
    /// # Errors
    /// When the issue does not exist, its phase is another one now, a field breaks a limit, or the run has made too many.
    pub fn refuse_delivery(
        &mut self,
        context: &Context,
        new: &NewDelivery,
        reasons: &[String],
    ) -> Result<Delivery, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = claimable(tx, context, new)?;
            let id = insert(tx, context, &issue, new, DeliveryState::Rejected, reasons)?;
            load_delivery(tx, id)
        })
    }

    /// Records a delivery whose checks passed, before what it is about is committed. An open delivery of an earlier run makes
    /// room for it.
    ///
    /// # Errors
    /// When the issue is not in progress, it has a `must` point of a review without an answer, its phase is another one now, this run has a delivery on it already, a field breaks
    /// a limit, or the run has made too many.
    pub fn submit_delivery(
        &mut self,
        context: &Context,
        new: &NewDelivery,
    ) -> Result<Delivery, StoreError> {
        check_fields(new)?;
        self.write(context, |tx| {
            let issue = claimable(tx, context, new)?;
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

    /// Settles a submitted delivery on the commit that it is about; one that awaits a judge takes the issue to `review`.
    ///
    /// # Errors
    /// When the delivery is not submitted any more, or the issue may not go to `review` from where it is.
    pub fn settle_delivery(
        &mut self,
        context: &Context,
        id: DeliveryId,
        settlement: Settlement,
        commit: &str,
        warnings: &[String],
    ) -> Result<Delivery, StoreError> {
        self.write(context, |tx| {
            let claim = load_delivery(tx, id)?;
            if claim.state != DeliveryState::Submitted {
                let (delivery, state) = (id, claim.state);
                return Err(ReviewRefusal::Settled { delivery, state }.into());
            }
            let state = match settlement {
                Settlement::Accepted => DeliveryState::Accepted,
                Settlement::AwaitingJudge => {
                    move_in(tx, context, &claim.issue, &IssueEvent::PhaseDelivered)?;
                    DeliveryState::AwaitingJudge
                }
            };
            tx.execute(
                "UPDATE phase_claim SET state = ?2, head_commit = ?3, reasons = ?4 WHERE id = ?1",
                params![id.get(), state.name(), commit, to_json(warnings)],
            )?;
            let settled = LogEvent::DeliverySettled {
                claim: id,
                state,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&claim.issue), &settled)?;
            load_delivery(tx, id)
        })
    }

    /// Takes a submitted delivery back: what it is about could not be committed.
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
            let claim = load_delivery(tx, id)?;
            if claim.state == DeliveryState::Submitted {
                reject_delivery(tx, context, &claim.issue, claim.id, reason)?;
            }
            Ok(())
        })
    }

    /// Records that the branch of a delivery that awaits a judge has another head now: the judge looks at that one.
    ///
    /// # Errors
    /// When the delivery does not await a judge.
    pub fn move_delivery_head(
        &mut self,
        context: &Context,
        id: DeliveryId,
        commit: &str,
    ) -> Result<Delivery, StoreError> {
        self.write(context, |tx| {
            let claim = load_delivery(tx, id)?;
            if !claim.awaits_judge() {
                let (delivery, state) = (id, claim.state);
                return Err(ReviewRefusal::NothingToJudge { delivery, state }.into());
            }
            tx.execute(
                "UPDATE phase_claim SET head_commit = ?2 WHERE id = ?1",
                params![id.get(), commit],
            )?;
            let moved = LogEvent::DeliveryHeadMoved {
                claim: id,
                commit: commit.to_owned(),
            };
            append(tx, context, About::issue(&claim.issue), &moved)?;
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

/// Returns the issue, when its phase is the delivery's and the run may still claim.
fn claimable(
    tx: &Transaction<'_>,
    context: &Context,
    new: &NewDelivery,
) -> Result<Issue, StoreError> {
    check_run_limit(tx, context, "phase_claim", RUN_CLAIMS_MAX)?;
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

/// A claim of an earlier run makes room; this run's own stands, unless it never came to be settled.
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
        "a later delivery took its place",
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
    tx.execute(
        "INSERT INTO phase_claim (project, issue, phase, artifact_path, summary, skip_to, next_phase, run, author, state, reasons, open, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
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
    )?;
    let id = DeliveryId::new(tx.last_insert_rowid());
    let claimed = LogEvent::PhaseDelivered {
        claim: id,
        phase: new.phase.clone(),
        state,
        reasons: reasons.to_vec(),
    };
    append(tx, context, About::issue(&issue.id), &claimed)?;
    Ok(id)
}
