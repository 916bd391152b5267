//! An issue with everything that belongs to it.

use serde::Serialize;
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::IssueId;
use symphony_core::inbox::LostDocument;
use symphony_core::prompt_trial::Assignment;
use symphony_store::{IssueFilter, PrFilter, RunFilter, Store, StoreError};

use super::delivery::DeliveryView;
use super::issue::IssueView;
use super::last_failure::FailureView;
use super::notes::{CommentView, FindingView};
use super::pull_request::PrView;
use super::run::RunView;
use super::tracker::LinkView;
use crate::text::{List, Page, View};

/// Newest comments and findings shown: as many as a person reads.
const NOTES_MAX: u32 = 100;
/// Newest phase deliveries shown.
const DELIVERIES_MAX: u32 = 20;
/// Newest runs shown.
const RUNS_MAX: u32 = 20;

/// An issue with its comments, findings, pull requests and runs.
#[derive(Debug, Clone, Serialize)]
pub struct IssueDetail {
    /// The issue itself.
    #[serde(flatten)]
    pub issue: IssueView,
    /// The issues that are a part of it.
    pub children: Vec<IssueId>,
    /// The issues that wait for it.
    pub dependents: Vec<IssueId>,
    /// Its links to issues at trackers.
    pub trackers: Vec<LinkView>,
    /// Its comments, oldest first.
    pub comments: Vec<CommentView>,
    /// What agents found out about it, the oldest first.
    pub findings: Vec<FindingView>,
    /// What agents delivered for its phases, the newest first.
    #[serde(rename = "phase_claims")]
    pub deliveries: Vec<DeliveryView>,
    /// Which accepted documents are lost, in words; absent where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost_documents: Vec<String>,
    /// Its pull requests and proposals, the newest first.
    pub pull_requests: Vec<PrView>,
    /// Its newest runs, the newest first.
    pub runs: Vec<RunView>,
    /// The set of a trial of prompts that its newest runs were built with; absent outside of trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_set: Option<Assignment>,
    /// How its newest run failed; none when that did not fail.
    pub last_failure: Option<FailureView>,
}

impl IssueDetail {
    /// Reads an issue of a project that has these gates now.
    ///
    /// # Errors
    /// When there is none of this identifier.
    pub fn load(
        store: &Store,
        id: &IssueId,
        configured: &[ConfiguredGate],
    ) -> Result<Self, StoreError> {
        let children = IssueFilter {
            parent: Some(id.clone()),
            ..IssueFilter::default()
        };
        let prs = PrFilter {
            issue: Some(id.clone()),
            ..PrFilter::default()
        };
        let runs = RunFilter {
            issue: Some(id.clone()),
            limit: Some(RUNS_MAX),
            ..RunFilter::default()
        };
        let issue = store.issue(id)?;
        let runs = store.runs(&runs)?;
        Ok(Self {
            prompt_set: runs.iter().find_map(|run| run.prompt_set.clone()),
            last_failure: FailureView::load(store, &issue)?,
            issue: issue.into(),
            children: store
                .list_issues(&children)?
                .items
                .into_iter()
                .map(|issue| issue.id)
                .collect(),
            dependents: store.dependents(id)?,
            trackers: LinkView::load(store, id)?,
            comments: store
                .comments(id, NOTES_MAX)?
                .into_iter()
                .map(CommentView::from)
                .collect(),
            findings: store
                .findings(id, NOTES_MAX)?
                .into_iter()
                .map(FindingView::from)
                .collect(),
            lost_documents: Vec::new(),
            deliveries: store
                .deliveries(id, None, DELIVERIES_MAX)?
                .into_iter()
                .map(DeliveryView::from)
                .collect(),
            pull_requests: store
                .prs(&prs)?
                .into_iter()
                .map(|pr| PrView::of(pr, configured))
                .collect(),
            runs: runs.into_iter().map(RunView::from).collect(),
        })
    }
}

impl IssueDetail {
    /// Adds which of its accepted documents are lost.
    #[must_use]
    pub fn with_lost_documents(self, lost: &[LostDocument]) -> Self {
        let own = lost
            .iter()
            .filter(|lost| lost.issue == self.issue.identifier);
        Self {
            lost_documents: own.map(LostDocument::text).collect(),
            ..self
        }
    }
}

impl View for IssueDetail {
    fn write(&self, page: &mut Page) {
        let ids = |ids: &[IssueId]| {
            ids.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        self.issue.write_head(page);
        page.field("sub-tasks", &ids(&self.children));
        page.field("needed by", &ids(&self.dependents));
        for link in &self.trackers {
            page.field(
                "mirrored",
                &format!("{} of {}, {}", link.key, link.tracker, link.url),
            );
        }
        let set = self.prompt_set.as_ref();
        page.field("prompts", &set.map(ToString::to_string).unwrap_or_default());
        if !self.issue.description.is_empty() {
            page.gap();
            page.block(&self.issue.description);
        }
        if !self.deliveries.is_empty() {
            page.heading("Deliveries");
            List {
                items: self.deliveries.clone(),
            }
            .write(page);
        }
        for lost in &self.lost_documents {
            page.line(&format!("warning: {lost}"));
        }
        if !self.pull_requests.is_empty() {
            page.heading(
                if self.pull_requests.iter().any(|pr| pr.proposal.is_some()) {
                    "Pull requests and proposals"
                } else {
                    "Pull requests"
                },
            );
            List {
                items: self.pull_requests.clone(),
            }
            .write(page);
        }
        let open = |pr: &&PrView| pr.proposal.is_some() && pr.state.is_open();
        if let Some(proposal) = self.pull_requests.iter().find(open) {
            page.heading("Why nothing is left to do, according to its worker");
            page.block(&proposal.body);
            proposal.write_evidence(page);
        }
        if !self.runs.is_empty() {
            page.heading("Runs");
            List {
                items: self.runs.clone(),
            }
            .write(page);
        }
        if let Some(failure) = &self.last_failure {
            page.gap();
            page.line(&failure.text(page.now()));
        }
        if !self.findings.is_empty() {
            page.heading("Findings");
            self.findings.iter().for_each(|finding| finding.write(page));
        }
        if !self.comments.is_empty() {
            page.heading("Comments");
            self.comments.iter().for_each(|comment| comment.write(page));
        }
    }
}
