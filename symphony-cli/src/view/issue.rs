//! Issues.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PhaseName, ProjectId};
use symphony_core::issue::{BlockedBy, Issue, IssueStatus, Priority, Size};
use symphony_core::wording::counted;

use crate::output::{List, Page, Table, View, ago};

/// An issue.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct IssueView {
    pub(crate) identifier: IssueId,
    pub(crate) project: ProjectId,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) status: IssueStatus,
    pub(crate) priority: Priority,
    pub(crate) size: Option<Size>,
    pub(crate) labels: Vec<String>,
    pub(crate) parent: Option<IssueId>,
    pub(crate) depends_on: Vec<IssueId>,
    pub(crate) phase: Option<PhaseName>,
    pub(crate) blocked_by: Option<BlockedBy>,
    pub(crate) blocked_reason: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) consecutive_failures: u32,
    pub(crate) total_runs: u32,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
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
            consecutive_failures: issue.counts.consecutive_failures,
            total_runs: issue.counts.total_runs,
            created_at: issue.created_at,
            updated_at: issue.updated_at,
        }
    }
}

impl IssueView {
    /// Writes everything but the description.
    pub(crate) fn write_head(&self, page: &mut Page) {
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

impl View for List<IssueView> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("No issues.");
            return;
        }
        let mut table = Table::new(["ISSUE", "STATUS", "PRIORITY", "CHANGED", "TITLE", "LABELS"]);
        for issue in &self.items {
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
