//! Comments and findings.

use serde_json::json;
use symphony_core::issue::FindingKind;
use symphony_store::{NewFinding, Store};

use super::{own_issue, target};
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::params::{AddComment, AddFinding, FindingName};

fn kind(name: FindingName) -> FindingKind {
    match name {
        FindingName::Note => FindingKind::Note,
        FindingName::Approach => FindingKind::Approach,
        FindingName::Gap => FindingKind::Gap,
        FindingName::Bug => FindingKind::Bug,
        FindingName::Risk => FindingKind::Risk,
        FindingName::Review => FindingKind::Review,
    }
}

/// `add_finding`
pub(super) fn add_finding(
    store: &mut Store,
    identity: &Identity,
    params: AddFinding,
) -> Result<Answer, ToolError> {
    let id = own_issue(identity)?;
    let new = NewFinding {
        kind: kind(params.kind),
        text: params.text,
        files: params.files,
    };
    let finding = store.add_finding(&identity.context(), id, &new)?;
    Ok(Answer::new(format!(
        "recorded a finding of kind {} on {id}",
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
