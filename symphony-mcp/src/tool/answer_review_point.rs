//! `answer_review_point`: the author answers one point of a review.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{AnswerKind, PointNumber, refuse_unanswered};
use symphony_core::run::RunTarget;
use symphony_store::{NewAnswer, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::{Identity, IssueWorkspace};
use crate::rows::point_row;
use crate::tool_call::ToolCall;
use crate::work::committable::{base_head, open};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerReviewPoint {
    /// The point's number.
    point: u32,
    /// What you did with it.
    answer: Named<AnswerKind>,
    /// The commit that answers it, by at least 4 digits of its hash.
    commit: Option<String>,
    /// How you met it, why you did not, or what a person has to decide. At most 2,000 characters.
    text: String,
}

impl ToolCall for AnswerReviewPoint {
    const DESCRIPTION: &str = "Answers one point of a review of your work: `fixed` with the commit, `declined` with the reason, or `question` \
        if only a person can say what is meant, which blocks the issue until someone replies.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let of = own_work(store, identity)?;
        let kind = self.answer.0;
        if kind == AnswerKind::Question && of.issue().is_none() {
            return Err(ToolError::new(
                "in a plan, no one can answer a question: decline the point and write what you would ask, or report the phase as failed",
            ));
        }
        let commit = match (&self.commit, &identity.workspace) {
            (Some(digits), Some(workspace)) => Some(commit_of_branch(workspace, digits)?),
            (commit, _) => commit.clone(),
        };
        let new = NewAnswer {
            point: PointNumber::new(self.point),
            kind,
            commit,
            text: self.text,
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
}

/// Returns whose points the session's run answers: those of its issue, or of the plan whose phase it works on.
fn own_work(store: &Store, identity: &Identity) -> Result<PullRequestOf, ToolError> {
    if let Some(run) = identity.actor.run()
        && let RunTarget::PlanPhase(plan, _) = store.run(run)?.target
    {
        return Ok(plan.into());
    }
    Ok(identity.own_issue()?.clone().into())
}

/// Returns the full name of a commit of the issue's branch.
fn commit_of_branch(workspace: &IssueWorkspace, digits: &str) -> Result<String, ToolError> {
    let (repository, worktree) = open(workspace)?;
    let base = base_head(&repository, &workspace.base)?;
    let head = repository.head(&worktree)?;
    let found = repository.commit_ahead(&base, &head, &digits.to_ascii_lowercase())?;
    let commit = found.ok_or_else(|| {
        ToolError::new(format!(
            "commit: `{digits}` does not name exactly one commit of your branch that {} lacks; `git log {}..HEAD` lists them",
            workspace.base.as_str(),
            workspace.base.as_str()
        ))
    })?;
    Ok(commit.as_str().to_owned())
}
