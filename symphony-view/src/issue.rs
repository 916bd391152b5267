//! Issues.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PhaseName, ProjectId};
use symphony_core::issue::{BlockedBy, Issue, IssueStatus, Priority, Size};
use symphony_core::profile::ModelName;
use symphony_core::wording::counted;

use crate::text::{Listed, Page, Table, View, ago};

/// An issue.
#[derive(Debug, Clone, Serialize)]
pub struct IssueView {
    /// The issue, such as `SYM-12`.
    pub identifier: IssueId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// Its title.
    pub title: String,
    /// What should be done, in Markdown.
    pub description: String,
    /// Its status.
    pub status: IssueStatus,
    /// How much it matters.
    pub priority: Priority,
    /// How large it is, if somebody said so.
    pub size: Option<Size>,
    /// Its labels.
    pub labels: Vec<String>,
    /// The issue that it is a part of.
    pub parent: Option<IssueId>,
    /// The issues that have to be done before it.
    pub depends_on: Vec<IssueId>,
    /// The phase it is in, if it goes through phases.
    pub phase: Option<PhaseName>,
    /// Who or what blocks it.
    pub blocked_by: Option<BlockedBy>,
    /// Why it is blocked, in words.
    pub blocked_reason: Option<String>,
    /// What a tracker calls it.
    pub external_id: Option<String>,
    /// The provider that was set on it for its authors; none where the profile and the configuration decide.
    pub agent: Option<String>,
    /// The model that was set on it for its authors.
    pub model: Option<ModelName>,
    /// Runs that failed since the last one that succeeded.
    pub consecutive_failures: u32,
    /// Runs that were ever started for it.
    pub total_runs: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<Issue> for IssueView {
    fn from(issue: Issue) -> Self {
        Self {
            phase: issue.phase(),
            status: issue.state.status(),
            blocked_by: issue.state.block().map(|block| block.by),
            blocked_reason: issue.state.block().map(|block| block.reason.clone()),
            identifier: issue.id,
            project: issue.project,
            title: issue.title,
            description: issue.description,
            priority: issue.priority,
            size: issue.size,
            labels: issue.labels,
            parent: issue.parent,
            depends_on: issue.depends_on,
            external_id: issue.external_id,
            agent: issue.choice.provider,
            model: issue.choice.model,
            consecutive_failures: issue.counts.consecutive_failures,
            total_runs: issue.counts.total_runs,
            created_at: issue.created_at,
            updated_at: issue.updated_at,
        }
    }
}

impl IssueView {
    /// Writes everything but the description.
    pub fn write_head(&self, page: &mut Page) {
        let ids = |ids: &[IssueId]| {
            ids.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        page.heading(&format!("{} {}", self.identifier, self.title));
        page.field("status", self.status.name());
        if let Some(by) = &self.blocked_by {
            page.field(
                "waits for",
                &format!(
                    "{by}: {}",
                    self.blocked_reason.as_deref().unwrap_or_default()
                ),
            );
        }
        page.field("priority", self.priority.name());
        page.field("size", self.size.map_or("", Size::name));
        page.field("labels", &self.labels.join(", "));
        page.field("parent", self.parent.as_ref().map_or("", IssueId::as_str));
        page.field("depends on", &ids(&self.depends_on));
        page.field(
            "external id",
            self.external_id.as_deref().unwrap_or_default(),
        );
        page.field("agent", self.agent.as_deref().unwrap_or_default());
        page.field("model", self.model.as_ref().map_or("", ModelName::as_str));
        if self.total_runs > 0 {
            let failures = self.consecutive_failures;
            page.field(
                "runs",
                &format!(
                    "{} ({} in a row)",
                    self.total_runs,
                    counted(failures.into(), "failure")
                ),
            );
        }
        page.field("created", &ago(self.created_at, page.now()));
        page.field("changed", &ago(self.updated_at, page.now()));
    }
}

impl View for IssueView {
    fn write(&self, page: &mut Page) {
        self.write_head(page);
        if !self.description.is_empty() {
            page.gap();
            page.block(&self.description);
        }
    }
}

impl Listed for IssueView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No issues.");
            return;
        }
        let mut table = Table::new(["ISSUE", "STATUS", "PRIORITY", "CHANGED", "TITLE", "LABELS"]);
        for issue in items {
            table.row([
                issue.identifier.to_string(),
                issue.status.to_string(),
                issue.priority.to_string(),
                ago(issue.updated_at, page.now()),
                issue.title.clone(),
                issue.labels.join(", "),
            ]);
        }
        page.table(&table);
    }
}
