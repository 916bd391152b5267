//! A person's verdict on a pull request: it counts like a judge's.

use symphony_core::id::PrId;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::review_point::{PointChanges, PointMove, PointNumber, PointState};
use symphony_mcp::Reviewed;
use symphony_store::{Context, NewVerdict, PrStep, Store, StoreError, refuse_ended};

use super::OrderRefusal;
use crate::cancel::{end_judge_on, end_run_on};
use crate::error::RunnerError;
use crate::plan::show_plan_of;
use crate::session::Session;

/// Fewest characters by which a commit is known, as git shortens it.
const COMMIT_CHARS_MIN: usize = 7;

/// A person's verdict.
#[derive(Debug, Clone)]
pub struct PersonVerdict<'a> {
    /// Approval or rejection.
    pub kind: VerdictKind,
    /// What is said with it.
    pub comment: String,
    /// The commit that was reviewed; none for whatever is the head.
    pub commit: Option<&'a str>,
    /// What it does to the review points.
    pub points: PointChanges,
    /// Whether red gates keep it back.
    pub red_gates: RedGates,
    /// What it is about.
    pub subject: Reviewed,
}

/// Whether a verdict may be given although a required gate is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedGates {
    /// It may.
    Allowed,
    /// It may not.
    Refused,
}

/// Gives a verdict, after the judge or the gates at work on the pull request were ended: a judge must not speak after a person, and the
/// gates of what is sent back would be for nothing.
///
/// # Errors
/// When the pull request has ended, is not what the verdict is about, its gates are red, or open points keep an approval back.
pub fn give_verdict(
    session: &mut Session,
    context: &Context,
    found: &PullRequest,
    verdict: &PersonVerdict<'_>,
) -> Result<PullRequest, RunnerError> {
    record_verdict(session, context, found, verdict, |store, pr, new| {
        store.record_review(context, pr, new)
    })
}

/// As [`give_verdict`], with a record of its own that is written together with the verdict.
pub(crate) fn record_verdict(
    session: &mut Session,
    context: &Context,
    found: &PullRequest,
    verdict: &PersonVerdict<'_>,
    record: impl FnOnce(&mut Store, PrId, &NewVerdict) -> Result<PullRequest, StoreError>,
) -> Result<PullRequest, RunnerError> {
    if verdict.is_forced() {
        // of a plan: nobody works on it by itself, so that a person may change their mind
        session.store.resume_rejected_review(context, found.id)?;
        show_plan_of(&mut session.store, found);
    }
    let found = session.store.pr(found.id)?;
    let pr = verdict.prepare(session, context, &found)?;
    if verdict.subject != Reviewed::of(&pr) {
        return Err(OrderRefusal::OtherSubject { pr: pr.id }.into());
    }
    let is_red = pr.gates_of_head().is_some_and(|gates| !gates.green());
    if is_red && verdict.red_gates == RedGates::Refused {
        return Err(OrderRefusal::RedGates { pr: pr.id }.into());
    }
    if is_red {
        session.store.resume_stopped_review(context, pr.id)?;
    }
    let new = NewVerdict {
        kind: verdict.kind,
        commit: verdict.commit_of(&pr).to_owned(),
        comment: verdict.comment.clone(),
        points: verdict.points(session, &pr)?,
        force: verdict.is_forced(),
    };
    let judged = record(&mut session.store, pr.id, &new)?;
    show_plan_of(&mut session.store, &judged);
    Ok(judged)
}

/// Ends what is at work on an open pull request, and returns it as it is then.
pub(super) fn end_work_on(
    session: &mut Session,
    context: &Context,
    found: &PullRequest,
    step: PrStep,
) -> Result<PullRequest, RunnerError> {
    refuse_ended(found, step).map_err(StoreError::from)?;
    end_run_on(
        &session.installation,
        &mut session.store,
        context,
        &found.of,
    )?;
    still_open(session, found, step)
}

fn still_open(
    session: &Session,
    pr: &PullRequest,
    step: PrStep,
) -> Result<PullRequest, RunnerError> {
    let pr = session.store.pr(pr.id)?;
    refuse_ended(&pr, step).map_err(StoreError::from)?;
    Ok(pr)
}

impl PersonVerdict<'_> {
    fn prepare(
        &self,
        session: &mut Session,
        context: &Context,
        found: &PullRequest,
    ) -> Result<PullRequest, RunnerError> {
        match self.kind {
            VerdictKind::Approved => {
                refuse_ended(found, self.step()).map_err(StoreError::from)?;
                end_judge_on(
                    &session.installation,
                    &mut session.store,
                    context,
                    &found.of,
                )?;
                still_open(session, found, self.step())
            }
            VerdictKind::Rejected => end_work_on(session, context, found, self.step()),
        }
    }

    /// Returns the step that it is.
    pub const fn step(&self) -> PrStep {
        match self.kind {
            VerdictKind::Approved => PrStep::Approve,
            VerdictKind::Rejected => PrStep::Reject,
        }
    }

    /// Whether it is an approval whatever the gates find.
    pub fn is_forced(&self) -> bool {
        self.kind == VerdictKind::Approved && self.red_gates == RedGates::Allowed
    }

    /// A shortened commit is meant to be the head; anything else is for the store to refuse.
    fn commit_of<'c>(&'c self, pr: &'c PullRequest) -> &'c str {
        match self.commit {
            Some(commit)
                if commit.len() < COMMIT_CHARS_MIN || !pr.head_commit.starts_with(commit) =>
            {
                commit
            }
            _ => &pr.head_commit,
        }
    }

    /// The state that each point gets. An approval by force closes those that it does not name.
    fn points(&self, session: &Session, pr: &PullRequest) -> Result<PointChanges, RunnerError> {
        let mut changes = self.points.clone();
        if self.is_forced() {
            let named: Vec<PointNumber> = changes.moved.iter().map(|moved| moved.number).collect();
            let points = session.store.review_points(&pr.of)?.into_iter();
            let left =
                points.filter(|point| point.is_open_must() && !named.contains(&point.number));
            changes.moved.extend(left.map(|point| PointMove {
                number: point.number,
                to: PointState::Closed,
                remark: None,
            }));
        }
        Ok(changes)
    }
}
