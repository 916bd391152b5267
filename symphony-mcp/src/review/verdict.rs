//! Verdicts: what a judge says, what it is about, and how it is recorded.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::contract::Delivery;
use symphony_core::criteria::Criteria;
use symphony_core::id::DeliveryId;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_store::{NewVerdict, Store};

use crate::answer::ToolError;
use crate::identity::{Identity, ReviewTarget, Reviewed, Verdicts};
use crate::review::criteria::read_criteria;
use crate::review::points::{PointParam, changes};
use crate::work::delivered::branch_head;

/// The arguments of an approval.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approval {
    /// What convinced you.
    comment: Option<String>,
    /// Earlier points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    points: Vec<PointParam>,
}

/// The arguments of a rejection.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rejection {
    /// A one-sentence summary. Without `points`, say here what must change, specifically enough to act on; it becomes one `must` point.
    feedback: Option<String>,
    /// One point for each thing that must change, and earlier points that are met or not met (`id`, `state`).
    #[serde(default)]
    points: Vec<PointParam>,
}

/// A judge's verdict on the work, before it is tied to a commit.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// Whether it is good.
    pub(crate) kind: VerdictKind,
    /// The comment, in a sentence.
    pub(crate) comment: Option<String>,
    /// The points.
    pub(crate) points: Vec<PointParam>,
}

impl From<Approval> for Judgement {
    fn from(Approval { comment, points }: Approval) -> Self {
        let kind = VerdictKind::Approved;
        Self {
            kind,
            comment,
            points,
        }
    }
}

impl From<Rejection> for Judgement {
    fn from(rejection: Rejection) -> Self {
        Self {
            kind: VerdictKind::Rejected,
            comment: rejection.feedback,
            points: rejection.points,
        }
    }
}

impl Judgement {
    /// Returns the verdict on a commit. The criteria are read only if a point refers to one.
    fn on(
        self,
        commit: String,
        read_criteria: impl FnOnce() -> Result<Criteria, ToolError>,
    ) -> Result<NewVerdict, ToolError> {
        Ok(NewVerdict {
            force: false,
            kind: self.kind,
            points: changes(&self.points, read_criteria)?,
            comment: self.comment.unwrap_or_default(),
            commit,
        })
    }
}

/// Records a verdict on the change or the proposal under review; returns the pull request and the commit of the
/// verdict.
pub(crate) fn judge_pull_request(
    store: &mut Store,
    identity: &Identity,
    subject: Reviewed,
    said: impl Into<Judgement>,
) -> Result<(PullRequest, String), ToolError> {
    let (pr, commit) = reviewed(store, identity)?;
    if Reviewed::of(&pr) != subject {
        return Err(ToolError::new(match subject {
            Reviewed::Change => format!(
                "{} is a proposal that nothing is left to do: `approve_done` and `reject_done` decide on it",
                pr.id
            ),
            Reviewed::Proposal => format!(
                "pull request {} is a change: `approve_pr` and `reject_pr` decide on it",
                pr.id
            ),
        }));
    }
    let verdict = said
        .into()
        .on(commit.clone(), || read_criteria(store, identity))?;
    Ok((
        store.record_review(&identity.context(), pr.id, &verdict)?,
        commit,
    ))
}

/// Returns the pull request under review and the commit that a verdict is about.
fn reviewed(store: &Store, identity: &Identity) -> Result<(PullRequest, String), ToolError> {
    if identity.verdicts == Verdicts::Refused {
        return Err(ToolError::new(Verdicts::REFUSAL));
    }
    match &identity.review {
        Some(ReviewTarget::PullRequest { pr, commit, .. }) => Ok((store.pr(*pr)?, commit.clone())),
        _ if identity.actor.is_human() => {
            let issue = identity.own_issue()?;
            let pr = store
                .open_pr(issue)?
                .ok_or_else(|| ToolError::new(format!("{issue} has no open pull request")))?;
            let head = pr.head_commit.clone();
            Ok((pr, head))
        }
        _ => Err(ToolError::new("this run reviews no pull request")),
    }
}

/// Records a verdict on the delivery under review.
pub(crate) fn judge_delivery(
    store: &mut Store,
    identity: &Identity,
    said: impl Into<Judgement>,
) -> Result<Delivery, ToolError> {
    let (delivery, commit) = judged(store, identity)?;
    let verdict = said.into().on(commit, || Ok(Criteria::default()))?;
    Ok(store.record_phase_review(&identity.context(), delivery, &verdict)?)
}

/// Returns the delivery under review, and the commit that a verdict is about.
fn judged(store: &mut Store, identity: &Identity) -> Result<(DeliveryId, String), ToolError> {
    if identity.verdicts == Verdicts::Refused {
        return Err(ToolError::new(Verdicts::REFUSAL));
    }
    let head = identity.workspace.as_ref().map(branch_head).transpose()?;
    match &identity.review {
        Some(ReviewTarget::Delivery { delivery, commit }) => match head {
            Some(head) if head != *commit => Err(ToolError::new(format!(
                "the branch is now at {head}, but you were shown {commit}: your verdict would not count. End your turn; the next \
                 judge will review the new commit."
            ))),
            _ => Ok((*delivery, commit.clone())),
        },
        _ if identity.actor.is_human() => {
            let issue = identity.own_issue()?;
            let delivery = store
                .open_delivery(issue)?
                .filter(Delivery::awaits_judge)
                .ok_or_else(|| {
                    ToolError::new(format!("{issue} has no delivery that waits for a judge"))
                })?;
            let commit = head.or(delivery.head_commit.clone()).unwrap_or_default();
            if delivery.head_commit.as_ref() != Some(&commit) {
                store.move_delivery_head(&identity.context(), delivery.id, &commit)?;
            }
            Ok((delivery.id, commit))
        }
        _ => Err(ToolError::new("this run reviews no delivery")),
    }
}
