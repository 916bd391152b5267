//! How a verdict changes the points of a review.

use symphony_core::id::{IssueId, PlanId, RunId};
use symphony_core::issue::{FieldError, check_required_text, check_text};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::Verdict as RecordedVerdict;
use symphony_core::pull_request::{PullRequestOf, VerdictKind};
use symphony_core::review_point::{
    AnswerKind, NewPoint, Place, PointChanges, PointMove, PointNumber, PointState, ReviewOf,
    ReviewPoint, Verdict, check_changes, list_numbers, points_from_feedback,
};
use symphony_core::run::{ProtectionLevel, Run, SandboxRecord};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::plan::record::load_head;
use crate::review::point::{bound, load_points};

/// A verdict to be recorded, with its changes to points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerdict {
    /// Approval or rejection.
    pub kind: VerdictKind,
    /// The commit that was judged.
    pub commit: String,
    /// Its comment. If a rejection adds and reopens no points, the comment becomes a point.
    pub comment: String,
    /// New points, and existing ones that it closes or reopens.
    pub points: PointChanges,
    /// Whether a person approves regardless of the gates.
    pub force: bool,
}

/// What new points refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reviewed<'a> {
    /// The issue or the plan.
    pub(crate) of: &'a PullRequestOf,
    /// The review; `None` outside of a review.
    pub(crate) review: Option<ReviewOf>,
    /// The commit that was looked at.
    pub(crate) commit: Option<&'a str>,
}

/// Writes the changes of a verdict to the points, and returns the text about them for its comment.
pub(crate) fn judge_points(
    tx: &Transaction<'_>,
    context: &Context,
    reviewed: &Reviewed<'_>,
    verdict: &NewVerdict,
) -> Result<String, StoreError> {
    let changes = verdict.changes();
    let raised = change(
        tx,
        context,
        reviewed,
        Verdict::Given(verdict.kind),
        &changes,
    )?;
    let comment = verdict.comment.trim();
    // A comment that became a point is only quoted here; the point has the whole text.
    let is_point = changes.new.len() > verdict.points.new.len();
    let said = if is_point {
        first_line(comment)
    } else {
        comment.to_owned()
    };
    let named = match raised.as_slice() {
        [] => None,
        [_] | [_, _] => Some(list_numbers(&raised)),
        [first, .., last] => Some(format!("review points {first} to {last}")),
    };
    Ok(match (named, said.is_empty()) {
        (None, true) => String::new(),
        (None, false) => format!(": {said}"),
        (Some(named), true) => format!(": {named}"),
        (Some(named), false) => format!(" ({named}): {said}"),
    })
}

/// Checks and writes changes, and returns the numbers of new points.
pub(crate) fn change(
    tx: &Transaction<'_>,
    context: &Context,
    reviewed: &Reviewed<'_>,
    verdict: Verdict,
    changes: &PointChanges,
) -> Result<Vec<PointNumber>, StoreError> {
    let points = load_points(tx, reviewed.of)?;
    check_changes(&points, &context.actor.author(), verdict, changes)?;
    for moved in &changes.moved {
        let Some(point) = points.iter().find(|point| point.number == moved.number) else {
            continue;
        };
        if is_closed_already(point, moved) {
            continue;
        }
        let round = match moved.to {
            PointState::Open => point.round + 1,
            PointState::Closed => point.round,
        };
        tx.execute(
            "UPDATE review_point AS p SET state = ?3, round = ?4 WHERE (p.issue = ?1 OR p.plan = ?2) AND number = ?5",
            params![
                reviewed.of.issue().map(IssueId::as_str),
                reviewed.of.plan().map(PlanId::as_str),
                moved.to.name(),
                round,
                moved.number.get(),
            ],
        )?;
        let event = LogEvent::ReviewPointMoved {
            point: moved.number,
            state: moved.to,
        };
        append(tx, context, About::of(reviewed.of), &event)?;
        if let Some(remark) = &moved.remark {
            let said = NewAnswer {
                point: moved.number,
                kind: AnswerKind::Remark,
                commit: None,
                text: remark.clone(),
            };
            insert_answer(tx, context, reviewed.of, round, &said)?;
        }
    }
    let first = points.last().map_or(1, |point| point.number.get() + 1);
    let mut raised = Vec::new();
    for (number, new) in (first..).zip(&changes.new) {
        insert_point(tx, context, reviewed, number, new)?;
        raised.push(PointNumber::new(number));
    }
    Ok(raised)
}

pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let quoted: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if quoted.len() < text.len() {
        format!("{quoted} …")
    } else {
        quoted
    }
}

/// An answer to a review point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAnswer {
    /// The point.
    pub point: PointNumber,
    /// The kind of answer.
    pub kind: AnswerKind,
    /// The commit that answers it.
    pub commit: Option<String>,
    /// The text.
    pub text: String,
}

/// How many characters of a feedback's first line are quoted in the comment about its points.
pub(crate) const QUOTE_CHARS_MAX: usize = 200;

pub(crate) fn insert_answer(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    round: u32,
    new: &NewAnswer,
) -> Result<(), StoreError> {
    let [issue, plan] = bound(of);
    let (source, user) = context.actor.attributed();
    tx.execute(
        "INSERT INTO point_answer (point, round, kind, text, commit_id, author, run, created_at, unverified, source, user)
         SELECT id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM review_point p WHERE (p.issue = ?1 OR p.plan = ?2) AND number = ?3",
        params![
            issue,
            plan,
            new.point.get(),
            round,
            new.kind.name(),
            new.text.trim(),
            new.commit,
            context.actor.author().name(),
            context.actor.run().map(RunId::as_str),
            context.now.as_millisecond(),
            context.actor.unverified(),
            source,
            user,
        ],
    )?;
    let answered = LogEvent::ReviewPointAnswered {
        point: new.point,
        answer: new.kind,
    };
    append(tx, context, About::of(of), &answered)
}

pub(crate) fn insert_point(
    tx: &Transaction<'_>,
    context: &Context,
    reviewed: &Reviewed<'_>,
    number: u32,
    new: &NewPoint,
) -> Result<(), StoreError> {
    let project = match reviewed.of {
        PullRequestOf::Issue(issue) => load_issue(tx, issue)?.project,
        PullRequestOf::Plan(plan) => load_head(tx, plan)?.project,
    };
    let (pr, delivery) = match reviewed.review {
        Some(ReviewOf::PullRequest(id)) => (Some(id.get()), None),
        Some(ReviewOf::Delivery(id)) => (None, Some(id.get())),
        None => (None, None),
    };
    let lines = new.place.as_ref().and_then(|place| place.lines);
    let (source, user) = context.actor.attributed();
    tx.execute(
        "INSERT INTO review_point (project, issue, plan, number, severity, text, file, lines, state, round, author, run,
                                   pull_request, claim, commit_id, created_at, unverified, source, user)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'open', 1, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        params![
            project.as_str(),
            reviewed.of.issue().map(IssueId::as_str),
            reviewed.of.plan().map(PlanId::as_str),
            number,
            new.severity.name(),
            new.text.trim(),
            new.place.as_ref().map(|Place { file, .. }| file),
            lines.map(|lines| lines.to_string()),
            context.actor.author().name(),
            context.actor.run().map(RunId::as_str),
            pr,
            delivery,
            reviewed.commit,
            context.now.as_millisecond(),
            context.actor.unverified(),
            source,
            user,
        ],
    )?;
    let raised = LogEvent::ReviewPointRaised {
        point: PointNumber::new(number),
        severity: new.severity,
    };
    append(tx, context, About::of(reviewed.of), &raised)
}

/// Returns whether the change closes a point that is already closed, without a remark: nothing would change, and
/// nothing is logged.
pub(crate) fn is_closed_already(point: &ReviewPoint, moved: &PointMove) -> bool {
    moved.to == PointState::Closed && !point.is_open() && moved.remark.is_none()
}

/// How the giver of a verdict is protected from others who would speak in its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgeProtection {
    level: ProtectionLevel,
    sandbox: Option<SandboxRecord>,
}

impl JudgeProtection {
    /// That of a person.
    pub(crate) const PERSON: Self = Self {
        level: ProtectionLevel::Isolated,
        sandbox: None,
    };

    /// Returns that of a judge's run.
    pub(crate) const fn of(run: &Run) -> Self {
        Self {
            level: run.protection,
            sandbox: run.sandbox,
        }
    }
}

impl NewVerdict {
    /// Returns a verdict without its own points.
    pub fn plain(kind: VerdictKind, commit: &str, comment: &str) -> Self {
        Self {
            kind,
            commit: commit.to_owned(),
            comment: comment.to_owned(),
            points: PointChanges::default(),
            force: false,
        }
    }

    /// Checks the comment.
    pub(crate) fn check_comment(&self) -> Result<(), FieldError> {
        if self.kind == VerdictKind::Rejected && self.points.is_empty() {
            check_required_text("feedback", &self.comment)
        } else {
            check_text("comment", &self.comment)
        }
    }

    /// Returns the verdict as it is recorded.
    pub(crate) fn verdict(
        &self,
        context: &Context,
        judge: JudgeProtection,
        said: &str,
    ) -> RecordedVerdict {
        // Without a comment, it names its points.
        let comment = match self.comment.trim() {
            "" => said.trim_start_matches(": "),
            _ => self.comment.as_str(),
        };
        RecordedVerdict {
            kind: self.kind,
            author: context.actor.author(),
            run: context.actor.run().cloned(),
            commit: self.commit.clone(),
            protection: judge.level,
            sandbox: judge.sandbox,
            comment: comment.to_owned(),
            at: context.now,
            unverified: context.actor.unverified().map(str::to_owned),
            attribution: context.actor.attribution(),
            force: self.force,
        }
    }

    /// Returns the changes to points, where plain feedback is a `must` point.
    fn changes(&self) -> PointChanges {
        let mut changes = self.points.clone();
        if self.kind == VerdictKind::Rejected && !changes.asks_for_work() {
            changes.new = points_from_feedback(&self.comment);
        }
        changes
    }
}
