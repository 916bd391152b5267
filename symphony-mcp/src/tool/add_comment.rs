//! `add_comment`: a comment on an issue.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddComment {
    /// The comment.
    content: String,
    /// Identifier of another issue of the project. Defaults to the issue you work on.
    issue: Option<String>,
}

impl ToolCall for AddComment {
    const DESCRIPTION: &str =
        "Adds a comment to the issue you work on, or to another issue of the project.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let issue = identity.target(store, self.issue.as_deref())?;
        let comment = store.add_comment(&identity.context(), &issue.id, &self.content)?;
        Ok(Answer::new(format!("added a comment to {}", issue.id)).with("id", json!(comment.id)))
    }
}
