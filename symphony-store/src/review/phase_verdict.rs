//! Verdicts on phase deliveries, and the move of an issue to its next phase.

use symphony_core::agent::AgentType;
use symphony_core::contract::{Delivery, DeliveryState};
use symphony_core::id::{DeliveryId, IssueId};
use symphony_core::issue::{FindingKind, IssueEvent, IssueStatus};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::{PullRequestOf, Verdict, VerdictKind};
use symphony_core::review_point::ReviewOf;
use symphony_core::run::RunTarget;

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::cascade::{is_live, move_in, step_in};
use crate::issue::note::{NewFinding, add_comment_in, add_finding_in};
use crate::issue::query::load_issue;
use crate::review::delivery_query::{load_delivery, load_open_delivery};
use crate::review::point::persons_points;
use crate::review::point_judge::{JudgeProtection, NewVerdict, Reviewed, judge_points};
use crate::review::refusal::ReviewRefusal;
use crate::run::hand_in::forget_refused_call;
use crate::run::row::load_run;

impl Store {
    /// Records a verdict on a delivery with its points, also as a finding of kind `phase_verdict`. A rejection moves
    /// the issue back to `todo`. An approval moves it to its next phase, at once or when its live run ends.
    ///
    /// An agent's verdict counts only from a live judge's run on this delivery, and not from the author's run. Its
    /// approval takes effect once no person's `must` point is open.
    ///
    /// # Errors
    /// When the delivery does not wait for a judge, the commit is not the delivery's, a rejection asks for nothing, an
    /// approval leaves `must` points open, the writer may not judge it, or the issue is not in `review`.
    pub fn record_phase_review(
        &mut self,
        context: &Context,
        id: DeliveryId,
        new: &NewVerdict,
    ) -> Result<Delivery, StoreError> {
        new.check_comment()?;
        self.write(context, |tx| {
            let delivery = judged(tx, id, &new.commit)?;
            let judge = check_judge(tx, context, &delivery)?;
            let of = PullRequestOf::from(delivery.issue.clone());
            let reviewed = Reviewed {
                of: &of,
                review: Some(ReviewOf::Delivery(id)),
                commit: Some(&new.commit),
            };
            let said = judge_points(tx, context, &reviewed, new)?;
            let verdict = new.verdict(context, judge, &said);
            let state = match new.kind {
                VerdictKind::Rejected => DeliveryState::Rejected,
                VerdictKind::Approved if persons_points(tx, &of)?.is_empty() => {
                    DeliveryState::Accepted
                }
                VerdictKind::Approved => DeliveryState::AwaitingJudge,
            };
            write_verdict(tx, context, &delivery, state, &verdict, &said)?;
            forget_refused_call(tx, context)?;
            match state {
                DeliveryState::Rejected => {
                    move_in(tx, context, &delivery.issue, &IssueEvent::ReviewRejected)?;
                }
                // While a run is live, its end moves the issue: moved now, the issue would be in its next phase with a
                // run of the old one.
                DeliveryState::Accepted if !is_live(tx, &delivery.issue)? => {
                    take_step(tx, context, &delivery.issue)?;
                }
                _ => {}
            }
            load_delivery(tx, id)
        })
    }

    /// Moves an issue whose phase is accepted to the next one, or leaves it in `review` for a person when none follows.
    /// Returns the delivery if there was one to act on, so calling it twice does no harm.
    ///
    /// # Errors
    /// When a run is live on the issue, because the end of the run moves the issue.
    pub fn advance_phase(
        &mut self,
        context: &Context,
        issue: &IssueId,
    ) -> Result<Option<Delivery>, StoreError> {
        self.write(context, |tx| {
            if is_live(tx, issue)? {
                let issue = issue.clone();
                return Err(ReviewRefusal::RunIsLive(issue).into());
            }
            take_step(tx, context, issue)
        })
    }
}

/// Returns the delivery if a verdict on this commit of it may be given.
fn judged(tx: &Transaction<'_>, id: DeliveryId, commit: &str) -> Result<Delivery, StoreError> {
    let delivery = load_delivery(tx, id)?;
    if !delivery.awaits_judge() {
        let (delivery, state) = (id, delivery.state);
        return Err(ReviewRefusal::NothingToJudge { delivery, state }.into());
    }
    // A verdict names a commit. The head may have moved since the judge read it, and what it did not read must not be
    // accepted.
    let head = delivery.head_commit.as_deref().unwrap_or_default();
    if head != commit {
        return Err(ReviewRefusal::OtherCommit {
            of: ReviewOf::Delivery(id),
            commit: commit.to_owned(),
            head: head.to_owned(),
        }
        .into());
    }
    let status = load_issue(tx, &delivery.issue)?.state.status();
    if status != IssueStatus::Review {
        let issue = delivery.issue;
        return Err(ReviewRefusal::IssueNotInReview { issue, status }.into());
    }
    Ok(delivery)
}

/// Checks that the writer may judge, and returns how it is protected.
fn check_judge(
    tx: &Transaction<'_>,
    context: &Context,
    delivery: &Delivery,
) -> Result<JudgeProtection, StoreError> {
    let Actor::Run(key) = &context.actor else {
        return Ok(JudgeProtection::PERSON);
    };
    let run = load_run(tx, &key.run)?;
    let on_this = matches!(&run.target, RunTarget::Delivery(_, id) if *id == delivery.id);
    if run.agent != AgentType::Judge || !on_this || delivery.run.as_ref() == Some(&run.id) {
        return Err(ReviewRefusal::NotItsJudge {
            of: ReviewOf::Delivery(delivery.id),
            agent: run.agent,
        }
        .into());
    }
    Ok(JudgeProtection::of(&run))
}

/// Writes a verdict on the delivery, as a finding, and as a comment that names its points. `said` follows the verdict
/// in both texts.
fn write_verdict(
    tx: &Transaction<'_>,
    context: &Context,
    delivery: &Delivery,
    state: DeliveryState,
    verdict: &Verdict,
    said: &str,
) -> Result<(), StoreError> {
    let word = match verdict.kind {
        VerdictKind::Approved => "Approved",
        VerdictKind::Rejected => "Rejected",
    };
    let reasons: Vec<&str> = match verdict.kind {
        VerdictKind::Approved => delivery.reasons.iter().map(String::as_str).collect(),
        VerdictKind::Rejected => vec![verdict.comment.as_str()],
    };
    tx.execute(
        "UPDATE phase_claim SET state = ?2, open = ?3, reasons = ?4, verdict = ?5 WHERE id = ?1",
        params![
            delivery.id.get(),
            state.name(),
            state != DeliveryState::Rejected,
            to_json(&reasons),
            to_json(verdict),
        ],
    )?;
    let text = format!(
        "{word} the phase {} (delivery {}) on commit {}{said}",
        delivery.phase, delivery.id, verdict.commit
    );
    let finding = NewFinding {
        kind: FindingKind::PhaseVerdict,
        text,
        files: delivery.artifact_path.iter().cloned().collect(),
    };
    add_finding_in(tx, context, &delivery.issue, &finding)?;
    if !said.is_empty() {
        let comment = format!("{word} the phase {}{said}", delivery.phase);
        add_comment_in(tx, context, &delivery.issue, &comment)?;
    }
    if state == DeliveryState::AwaitingJudge {
        // The approval is logged when it takes effect.
        return Ok(());
    }
    log_verdict(tx, context, delivery, verdict)
}

fn log_verdict(
    tx: &Transaction<'_>,
    context: &Context,
    delivery: &Delivery,
    verdict: &Verdict,
) -> Result<(), StoreError> {
    let judged = LogEvent::PhaseJudged {
        delivery: delivery.id,
        kind: verdict.kind,
        commit: verdict.commit.clone(),
    };
    append(tx, context, About::issue(&delivery.issue), &judged)
}

/// Accepts a delivery that a judge approved. The caller has checked that no `must` point is open.
pub(crate) fn accept_judged(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
) -> Result<(), StoreError> {
    let approved = load_open_delivery(tx, issue)?.filter(Delivery::is_approved);
    let Some((delivery, verdict)) = approved
        .as_ref()
        .and_then(|c| Some((c, c.verdict.as_ref()?)))
    else {
        return Ok(());
    };
    tx.execute(
        "UPDATE phase_claim SET state = ?2 WHERE id = ?1",
        params![delivery.id.get(), DeliveryState::Accepted.name()],
    )?;
    log_verdict(tx, context, delivery, verdict)?;
    let is_in_review = load_issue(tx, issue)?.state.status() == IssueStatus::Review;
    // Otherwise a tick moves the issue once it is in review again.
    if is_in_review && !is_live(tx, issue)? {
        take_step(tx, context, issue)?;
    }
    Ok(())
}

/// Moves the issue of an accepted delivery: its status and its phase label.
fn take_step(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
) -> Result<Option<Delivery>, StoreError> {
    let Some(delivery) = load_open_delivery(tx, issue)?.filter(Delivery::awaits_step) else {
        return Ok(None);
    };
    step_in(tx, context, issue)?;
    load_delivery(tx, delivery.id).map(Some)
}
