//! `list_issues`: issues of the project, page by page.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueStatus, check_text};
use symphony_core::wording::counted;
use symphony_store::{IssueFilter, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::rows::issue_row;
use crate::tool_call::ToolCall;

/// Default page size of `list_issues`, and the largest one (spec: mcp).
const PAGE: u32 = 20;
const PAGE_MAX: u32 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListIssues {
    /// Only issues in this status.
    status: Option<Named<IssueStatus>>,
    /// Only issues with this label.
    label: Option<String>,
    /// Only issues with this text in the title or description, ignoring case.
    text: Option<String>,
    /// Maximum number of issues, 1 to 100. Defaults to 20.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

impl ToolCall for ListIssues {
    const DESCRIPTION: &str = "Lists issues of the project by status, label or text, page by page.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(ToolError::new(format!(
                "limit is {limit}; it must be from 1 to {PAGE_MAX}"
            )));
        }
        if let Some(text) = &self.text {
            check_text("text", text)?;
        }
        let after = self
            .cursor
            .as_deref()
            .map(|text| {
                IssueId::parse(text).map_err(|_id| {
                    ToolError::new("cursor must be a `next_cursor` that this tool returned")
                })
            })
            .transpose()?;
        let page = store.list_issues(&IssueFilter {
            project: Some(identity.project.clone()),
            status: self.status.map(|Named(status)| status),
            label: self.label.clone(),
            text: self.text.clone(),
            limit: Some(limit),
            after,
            parent: None,
            ..IssueFilter::default()
        })?;
        let message = match (page.items.len(), &page.next) {
            (0, _) => "no issue matches".to_owned(),
            (n, None) => counted(n as u64, "issue"),
            (n, Some(_)) => format!(
                "{}; pass `next_cursor` as `cursor` for more",
                counted(n as u64, "issue")
            ),
        };
        Ok(Answer::new(message)
            .with("items", page.items.iter().map(issue_row).collect())
            .with("next_cursor", json!(page.next)))
    }
}
