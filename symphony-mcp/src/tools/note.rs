//! Comments and findings.

use serde_json::json;
use symphony_store::{NewFinding, Store};

use super::target;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::params::{AddComment, AddFinding};

/// `add_finding`
pub(super) fn add_finding(
    store: &mut Store,
    identity: &Identity,
    params: AddFinding,
) -> Result<Answer, ToolError> {
    let new = NewFinding {
        kind: params.kind.0,
        text: params.text,
        files: params.files,
    };
    let context = identity.context();
    // a scanner or background researcher has no issue: what it sees is about the project
    let (finding, on) = match &identity.issue {
        Some(id) => (store.add_finding(&context, id, &new)?, id.to_string()),
        None => (
            store.add_project_finding(&context, &identity.project, &new)?,
            "the project".to_owned(),
        ),
    };
    Ok(Answer::new(format!(
        "recorded a finding of kind {} on {on}",
        finding.kind
    ))
    .with("id", json!(finding.id)))
}

/// `add_comment`
pub(super) fn add_comment(
    store: &mut Store,
    identity: &Identity,
    params: &AddComment,
) -> Result<Answer, ToolError> {
    let issue = target(store, identity, params.issue.as_deref())?;
    let comment = store.add_comment(&identity.context(), &issue.id, &params.content)?;
    Ok(Answer::new(format!("added a comment to {}", issue.id)).with("id", json!(comment.id)))
}
