//! `get_issue`: an issue with everything that belongs to it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use symphony_core::issue::CommentAuthor;
use symphony_core::pull_request::PullRequest;
use symphony_store::{IssueFilter, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::rows::{delivery_row, issue_row, point_row};
use crate::tool_call::ToolCall;

/// Most comments and findings that `get_issue` shows: the newest ones.
const NOTES_SHOWN_MAX: u32 = 20;
/// Most sub-tasks that it shows.
const CHILDREN_SHOWN_MAX: u32 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetIssue {
    /// Identifier such as SYM-12. Defaults to the issue you work on.
    issue: Option<String>,
}

impl ToolCall for GetIssue {
    const DESCRIPTION: &str = "Returns an issue with its comments, findings, dependencies, sub-tasks, pull request and open review points.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let issue = identity.target(store, self.issue.as_deref())?;
        let comments: Vec<Value> = store
            .comments_for_agents(&issue.id, NOTES_SHOWN_MAX)?
            .iter()
            .map(|c| json!({ "author": author_label(&c.author), "content": c.content, "created_at": c.created_at }))
            .collect();
        let findings: Vec<Value> = store
            .findings(&issue.id, NOTES_SHOWN_MAX)?
            .iter()
            .map(|f| json!({ "kind": f.kind, "text": f.text, "files": f.files, "author": author_label(&f.author), "created_at": f.created_at }))
            .collect();
        let mut dependencies = Vec::new();
        for id in &issue.depends_on {
            dependencies.push(issue_row(&store.issue(id)?));
        }
        let children = store.list_issues(&IssueFilter {
            parent: Some(issue.id.clone()),
            limit: Some(CHILDREN_SHOWN_MAX),
            ..IssueFilter::default()
        })?;
        let pr = store
            .prs(&symphony_store::PrFilter {
                issue: Some(issue.id.clone()),
                ..Default::default()
            })?
            .first()
            .map(pr_row);
        let points: Vec<Value> = store
            .review_points(&issue.id.clone().into())?
            .iter()
            .filter(|point| point.is_open())
            .map(point_row)
            .collect();
        let delivery = store
            .deliveries(&issue.id, None, 1)?
            .first()
            .map(delivery_row);
        let mut shown = issue_row(&issue);
        if let Value::Object(fields) = &mut shown {
            fields.insert("description".to_owned(), json!(issue.description));
            fields.insert("blocked".to_owned(), json!(issue.state.block()));
        }
        let message = format!("{} is {}: {}", issue.id, issue.state.status(), issue.title);
        Ok(Answer::new(message)
            .with("issue", shown)
            .with("comments", Value::Array(comments))
            .with("findings", Value::Array(findings))
            .with("dependencies", Value::Array(dependencies))
            .with("children", children.items.iter().map(issue_row).collect())
            .with("pull_request", pr.unwrap_or(Value::Null))
            .with("phase_claim", delivery.unwrap_or(Value::Null))
            .with("review_points", Value::Array(points)))
    }
}

fn author_label(author: &CommentAuthor) -> String {
    match author {
        CommentAuthor::Human => "human".to_owned(),
        CommentAuthor::System => "symphony".to_owned(),
        CommentAuthor::Tracker => "tracker".to_owned(),
        CommentAuthor::Agent(agent) => format!("agent:{agent}"),
    }
}

fn pr_row(pr: &PullRequest) -> Value {
    let (insertions, deletions) = pr.totals();
    json!({
        "id": pr.id,
        "title": pr.title,
        "body": pr.body,
        "state": pr.state,
        "branch": pr.branch,
        "base": pr.base,
        "head_commit": pr.head_commit,
        "files": pr.files,
        "insertions": insertions,
        "deletions": deletions,
        "gates": pr.gates_of_head().map(|gates| &gates.results),
        "reported_gates": pr.reported_gates,
        "checklist": pr.checklist,
        "verdict": pr.verdict,
    })
}
