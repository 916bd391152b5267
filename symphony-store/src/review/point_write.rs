//! Writing review points: with a verdict, as an agent's answer, or by a person.

use symphony_core::issue::{BlockedBy, IssueEvent};
use symphony_core::pull_request::{PrState, PullRequestOf, VerdictKind};
use symphony_core::review_point::{
    AnswerKind, PointChanges, PointNumber, ReviewPoint, Verdict, check_answer, pending_question,
    question_reason,
};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::note::check_run_limit;
use crate::issue::query::load_issue;
use crate::review::phase_verdict::accept_judged;
use crate::review::point::load_points;
use crate::review::point_judge::{NewAnswer, Reviewed, change, insert_answer};
use crate::review::pull_request_query::load_open_pr_of;
use crate::review::state::set_pr_state;

/// How many answers one run may give. A run that gives more is looping.
const RUN_ANSWERS_MAX: i64 = 200;

/// Queues an issue that waits for a reply, once no question is open.
fn resume_answered(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
) -> Result<(), StoreError> {
    let Some(issue) = of.issue() else {
        return Ok(());
    };
    let state = load_issue(tx, issue)?.state;
    let is_asked = state
        .block()
        .is_some_and(|block| block.by == BlockedBy::Question);
    if is_asked && pending_question(&load_points(tx, of)?).is_none() {
        move_in(tx, context, issue, &IssueEvent::Queued)?;
    }
    Ok(())
}

/// Approves what a judge already approved, once no `must` point is open.
fn approve_judged(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
) -> Result<(), StoreError> {
    if load_points(tx, of)?.iter().any(ReviewPoint::is_open_must) {
        return Ok(());
    }
    if let Some(issue) = of.issue() {
        accept_judged(tx, context, issue)?;
    }
    let Some(pr) = load_open_pr_of(tx, of)?.filter(|pr| pr.state == PrState::Open) else {
        return Ok(());
    };
    let is_approved = pr
        .verdict_on_head()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Approved);
    if is_approved {
        set_pr_state(tx, context, of, pr.id, PrState::Approved)?;
    }
    Ok(())
}

impl Store {
    /// Records an answer to a review point. A question blocks the issue until a person replies; a remark by a person is
    /// a reply.
    ///
    /// # Errors
    /// When there is no such open point, the text is empty or too long, the run has given too many answers, or the
    /// issue cannot be blocked in its status.
    pub fn answer_point(
        &mut self,
        context: &Context,
        of: &PullRequestOf,
        new: &NewAnswer,
    ) -> Result<ReviewPoint, StoreError> {
        self.write(context, |tx| answer_point_in(tx, context, of, new))
    }

    /// Closes, reopens and adds points for a person, outside of a verdict.
    ///
    /// # Errors
    /// When a point does not exist or is named twice, or a new one is malformed or exceeds the limit.
    pub fn change_points(
        &mut self,
        context: &Context,
        of: &PullRequestOf,
        changes: &PointChanges,
    ) -> Result<Vec<ReviewPoint>, StoreError> {
        self.write(context, |tx| change_points_in(tx, context, of, changes))
    }
}

pub(crate) fn answer_point_in(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    new: &NewAnswer,
) -> Result<ReviewPoint, StoreError> {
    check_run_limit(tx, context, "point_answer", RUN_ANSWERS_MAX)?;
    let points = load_points(tx, of)?;
    let point = check_answer(&points, new.point, &new.text)?;
    insert_answer(tx, context, of, point.round, new)?;
    match (new.kind, of.issue()) {
        (AnswerKind::Question, Some(issue)) => {
            let reason = question_reason(new.point, &new.text);
            move_in(tx, context, issue, &IssueEvent::QuestionAsked { reason })?;
        }
        (AnswerKind::Remark, _) => resume_answered(tx, context, of)?,
        _ => {}
    }
    reread(tx, of, new.point)
}

pub(crate) fn change_points_in(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    changes: &PointChanges,
) -> Result<Vec<ReviewPoint>, StoreError> {
    let reviewed = Reviewed {
        of,
        review: None,
        commit: None,
    };
    // Points, issue and approval change together: a death after the last point was closed would leave an approval that
    // no later command gives.
    change(tx, context, &reviewed, Verdict::None, changes)?;
    resume_answered(tx, context, of)?;
    approve_judged(tx, context, of)?;
    load_points(tx, of)
}

fn reread(
    tx: &Transaction<'_>,
    of: &PullRequestOf,
    number: PointNumber,
) -> Result<ReviewPoint, StoreError> {
    let points = load_points(tx, of)?;
    let found = points.into_iter().find(|point| point.number == number);
    found.ok_or_else(|| StoreError::not_found("review point", number))
}
