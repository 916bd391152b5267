//! Review points: read from a verdict's arguments, and answered by the author.

use serde_json::{Value, json};
use symphony_core::criteria::Criteria;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{
    AnswerKind, Lines, NewPoint, Place, PointChanges, PointMove, PointNumber, ReviewPoint,
    Severity, refuse_unanswered,
};
use symphony_core::run::RunTarget;
use symphony_store::{NewAnswer, Store};

use super::own_issue;
use crate::answer::{Answer, ToolError};
use crate::committable::{base_head, open};
use crate::criteria::about_criterion;
use crate::identity::{Identity, IssueWorkspace};
use crate::named::Named;
use crate::params::{AnswerReviewPoint, PointParam};

/// Returns a point as `get_issue` and the answers of tools show it.
pub(super) fn point_row(point: &ReviewPoint) -> Value {
    let answers: Vec<Value> = point
        .answers
        .iter()
        .map(|answer| {
            json!({
                "answer": answer.kind, "text": answer.text, "commit": answer.commit, "author": answer.author,
                "created_at": answer.created_at,
            })
        })
        .collect();
    json!({
        "id": point.number,
        "severity": point.severity,
        "state": point.state,
        "file": point.place.as_ref().map(|place| &place.file),
        "lines": point.place.as_ref().and_then(|place| place.lines),
        "text": point.text,
        "author": point.author,
        "answered": point.is_answered(),
        "answers": answers,
    })
}

/// Reads the points of a verdict. The criteria are read when a point is about one.
pub(super) fn changes(
    points: &[PointParam],
    read_criteria: impl FnOnce() -> Result<Criteria, ToolError>,
) -> Result<PointChanges, ToolError> {
    let mut changes = PointChanges::default();
    let criteria = if points.iter().any(|point| point.criterion.is_some()) {
        read_criteria()?
    } else {
        Criteria::default()
    };
    for (at, point) in points.iter().enumerate() {
        let wrong = |why: &str| ToolError::new(format!("points[{at}]: {why}"));
        match (point.id, point.state) {
            (Some(_), _) if point.criterion.is_some() => {
                return Err(wrong(
                    "`criterion` is for a new point, not for an earlier one (`id`)",
                ));
            }
            (Some(id), Some(state)) => changes.moved.push(PointMove {
                number: PointNumber::new(id),
                to: state.0.state(),
                remark: point.text.clone(),
            }),
            (None, None) => changes
                .new
                .push(new_point(point, &criteria).map_err(|why| wrong(&why))?),
            (Some(_), None) => {
                return Err(wrong(
                    "an earlier point (`id`) needs `state`: closed or reopened",
                ));
            }
            (None, Some(_)) => {
                return Err(wrong(
                    "`state` needs the `id` of an earlier point; a new point is always open",
                ));
            }
        }
    }
    Ok(changes)
}

fn new_point(point: &PointParam, criteria: &Criteria) -> Result<NewPoint, String> {
    let text = point
        .text
        .clone()
        .ok_or("a new point needs `text`, an earlier one `id` and `state`")?;
    let text = match point.criterion {
        Some(item) => about_criterion(criteria, item, &text)?,
        None => text,
    };
    let lines = point.lines.as_deref().map(Lines::parse).transpose();
    let lines = lines.map_err(|error| format!("lines: {error}"))?;
    if point.file.is_none() && lines.is_some() {
        return Err("`lines` needs `file`".to_owned());
    }
    Ok(NewPoint {
        severity: point
            .severity
            .map_or(Severity::Must, |Named(severity)| severity),
        text,
        place: point.file.clone().map(|file| Place { file, lines }),
    })
}

/// Refuses to hand in while a must-point of the session's issue has no answer: before anything else is looked at, so that the agent
/// does not meet this last.
pub(super) fn require_answers(store: &Store, identity: &Identity) -> Result<(), ToolError> {
    let of = own_issue(identity)?.clone().into();
    Ok(refuse_unanswered(&store.review_points(&of)?)?)
}

/// Returns whose points the session's run answers: those of its issue, or of the plan that it carries out a phase of.
fn own_work(store: &Store, identity: &Identity) -> Result<PullRequestOf, ToolError> {
    if let Some(run) = identity.actor.run()
        && let RunTarget::PlanPhase(plan, _) = store.run(run)?.target
    {
        return Ok(plan.into());
    }
    Ok(own_issue(identity)?.clone().into())
}

/// `answer_review_point`
pub(super) fn answer(
    store: &mut Store,
    identity: &Identity,
    params: AnswerReviewPoint,
) -> Result<Answer, ToolError> {
    let of = own_work(store, identity)?;
    let kind = params.answer.0;
    if kind == AnswerKind::Question && of.issue().is_none() {
        return Err(ToolError::new(
            "nobody answers a question in a plan: decline the point with what you would ask, or report the phase as failed",
        ));
    }
    let commit = match (&params.commit, &identity.workspace) {
        (Some(digits), Some(workspace)) => Some(commit_of_branch(workspace, digits)?),
        (commit, _) => commit.clone(),
    };
    let new = NewAnswer {
        point: PointNumber::new(params.point),
        kind,
        commit,
        text: params.text,
    };
    let point = store.answer_point(&identity.context(), &of, &new)?;
    let then = match refuse_unanswered(&store.review_points(&of)?) {
        _ if kind == AnswerKind::Question => {
            "the issue now waits for a person's reply: commit what you have and end your turn"
                .to_owned()
        }
        Ok(()) => "every `must` point has an answer".to_owned(),
        Err(left) => left.to_string(),
    };
    let message = format!("answered review point {}; {then}", point.number);
    Ok(Answer::new(message).with("point", point_row(&point)))
}

/// Returns the full name of a commit of the issue's branch.
fn commit_of_branch(workspace: &IssueWorkspace, digits: &str) -> Result<String, ToolError> {
    let (repository, worktree) = open(workspace)?;
    let base = base_head(&repository, &workspace.base)?;
    let head = repository.head(&worktree)?;
    let found = repository.commit_ahead((&base, &head), &digits.to_ascii_lowercase())?;
    let commit = found.ok_or_else(|| {
        ToolError::new(format!(
            "commit: `{digits}` does not name exactly one commit of your branch that {} lacks; `git log {}..HEAD` lists them",
            workspace.base.as_str(),
            workspace.base.as_str()
        ))
    })?;
    Ok(commit.as_str().to_owned())
}
