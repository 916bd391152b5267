//! Reading, moving and filing issues.

use serde_json::{Value, json};
use symphony_core::id::IssueId;
use symphony_core::issue::{
    CommentAuthor, Issue, IssueStatus, PHASE_LABEL_PREFIX, Priority, check_text,
};
use symphony_core::pull_request::PullRequest;
use symphony_core::wording::counted;
use symphony_store::{IssueFilter, NewIssue, Store};

use super::phase::claim_row;
use super::point::point_row;
use super::target;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::named::Named;
use crate::params::{CreateIssue, GetIssue, ListIssues};

/// Comments and findings that `get_issue` shows: the newest ones.
const NOTES_SHOWN_MAX: u32 = 20;
/// Page of `list_issues` when the call names none, and the largest one (spec: mcp).
const PAGE: u32 = 20;
const PAGE_MAX: u32 = 100;
/// The phase of what agents file (spec: domain, "Phases").
const FIRST_PHASE_LABEL: &str = "phase:research";

pub(super) fn row(issue: &Issue) -> Value {
    json!({
        "identifier": issue.id,
        "title": issue.title,
        "status": issue.state.status(),
        "priority": issue.priority,
        "size": issue.size,
        "labels": issue.labels,
        "parent": issue.parent,
        "depends_on": issue.depends_on,
        "phase": issue.phase(),
    })
}

fn author_label(author: &CommentAuthor) -> String {
    match author {
        CommentAuthor::Human => "human".to_owned(),
        CommentAuthor::System => "symphony".to_owned(),
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

/// `get_issue`
pub(super) fn get(
    store: &mut Store,
    identity: &Identity,
    params: &GetIssue,
) -> Result<Answer, ToolError> {
    let issue = target(store, identity, params.issue.as_deref())?;
    let comments: Vec<Value> = store
        .comments(&issue.id, NOTES_SHOWN_MAX)?
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
        dependencies.push(row(&store.issue(id)?));
    }
    let children = store.list_issues(&IssueFilter {
        parent: Some(issue.id.clone()),
        limit: Some(PAGE_MAX),
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
    let claim = store.claims(&issue.id, None, 1)?.first().map(claim_row);
    let mut shown = row(&issue);
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
        .with("children", children.items.iter().map(row).collect())
        .with("pull_request", pr.unwrap_or(Value::Null))
        .with("phase_claim", claim.unwrap_or(Value::Null))
        .with("review_points", Value::Array(points)))
}

/// `list_issues`
pub(super) fn list(
    store: &mut Store,
    identity: &Identity,
    params: &ListIssues,
) -> Result<Answer, ToolError> {
    let limit = params.limit.unwrap_or(PAGE);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(ToolError::new(format!(
            "limit is {limit}; it must be from 1 to {PAGE_MAX}"
        )));
    }
    if let Some(text) = &params.text {
        check_text("text", text)?;
    }
    let after = params
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
        status: params.status.map(|Named(status)| status),
        label: params.label.clone(),
        text: params.text.clone(),
        limit: Some(limit),
        after,
        parent: None,
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
        .with("items", page.items.iter().map(row).collect())
        .with("next_cursor", json!(page.next)))
}

/// `create_issue`
pub(super) fn create(
    store: &mut Store,
    identity: &Identity,
    params: CreateIssue,
) -> Result<Answer, ToolError> {
    let by_human = identity.actor.is_human();
    let mut labels = params.labels;
    if !by_human {
        if let Some(label) = labels
            .iter()
            .find(|label| label.starts_with(PHASE_LABEL_PREFIX))
        {
            return Err(ToolError::new(format!(
                "remove the label `{label}`: issues filed by agents start in `{FIRST_PHASE_LABEL}`"
            )));
        }
        labels.push(FIRST_PHASE_LABEL.to_owned());
    }
    let issue = store.file_issue(
        &identity.context(),
        &NewIssue {
            project: identity.project.clone(),
            title: params.title,
            description: params.description,
            status: IssueStatus::Backlog,
            priority: params
                .priority
                .map_or(Priority::None, |Named(priority)| priority),
            size: params.size.map(|Named(size)| size),
            labels,
            parent: None,
            depends_on: Vec::new(),
            external_id: None,
        },
    )?;
    Ok(Answer::new(format!("filed {} in the backlog", issue.id)).with("issue", row(&issue)))
}
