//! What a pull request changes, as a diff.

use serde::Serialize;
use symphony_core::id::{IssueId, PlanId, PrId};
use symphony_core::pull_request::PullRequest;

use crate::text::{Page, View};

/// The diff of a pull request.
#[derive(Debug, Clone, Serialize)]
pub struct DiffView {
    /// The pull request.
    pub id: PrId,
    /// The issue that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueId>,
    /// The plan that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The commit that the change starts from.
    pub base_commit: String,
    /// The last commit of the change.
    pub head_commit: String,
    /// The change, as a unified diff.
    pub diff: String,
}

impl From<PullRequest> for DiffView {
    fn from(pr: PullRequest) -> Self {
        let PullRequest {
            id,
            of,
            base_commit,
            head_commit,
            diff,
            ..
        } = pr;
        Self {
            id,
            issue: of.issue().cloned(),
            plan: of.plan().cloned(),
            base_commit,
            head_commit,
            diff,
        }
    }
}

impl View for DiffView {
    fn write(&self, page: &mut Page) {
        page.diff(&self.diff);
    }
}
