//! What happened to a pull request.

use serde::Serialize;
use symphony_core::id::{IssueId, PlanId, PrId};
use symphony_core::news::{GatesProgress, PrNews, PrProgress, VerdictProgress};
use symphony_core::pull_request::PrState;

/// What happened to a pull request, and how far it has come.
#[derive(Debug, Clone, Serialize)]
pub struct PrNewsView {
    id: PrId,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<IssueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanId>,
    state: PrState,
    head_commit: String,
    gates: GatesProgress,
    /// The verdict on the head commit.
    verdict: Option<VerdictProgress>,
    merged_commit: Option<String>,
    /// What happened, in words.
    text: String,
}

impl From<&PrNews<'_>> for PrNewsView {
    fn from(news: &PrNews<'_>) -> Self {
        let text = news.to_string();
        let PrProgress {
            pr,
            of,
            state,
            head,
            gates,
            verdict,
            merged,
            ..
        } = news.now.clone();
        Self {
            id: pr,
            issue: of.issue().cloned(),
            plan: of.plan().cloned(),
            state,
            head_commit: head,
            gates,
            verdict,
            merged_commit: merged,
            text,
        }
    }
}

impl PrNewsView {
    /// Returns what happened, in a line.
    pub fn line(&self) -> &str {
        &self.text
    }
}
