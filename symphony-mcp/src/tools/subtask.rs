//! Splitting an issue.

use serde_json::json;
use symphony_core::id::IssueId;
use symphony_store::{NewSubtask, Store};

use super::issue::row;
use super::own_issue;
use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::named::Named;
use crate::params::CreateSubtask;

/// `create_subtask`
pub(super) fn create(
    store: &mut Store,
    identity: &Identity,
    params: CreateSubtask,
) -> Result<Answer, ToolError> {
    let depends_on = params
        .depends_on
        .into_iter()
        .map(IssueId::parse)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| ToolError::new(format!("depends_on: {error}")))?;
    let made = store.add_subtask(
        &identity.context(),
        &NewSubtask {
            parent: own_issue(identity)?.clone(),
            title: params.title,
            description: params.description,
            priority: params.priority.map(|Named(priority)| priority),
            size: params.size.map(|Named(size)| size),
            depends_on,
        },
    )?;
    let (id, parent) = (&made.issue.id, &made.parent.id);
    let message = format!(
        "created {id}, a sub-task of {parent}, which now waits until all its sub-tasks have ended"
    );
    Ok(Answer::new(message).with("issue", row(&made.issue)).with(
        "parent",
        json!({ "identifier": parent, "status": made.parent.state.status() }),
    ))
}
