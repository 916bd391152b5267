//! `create_subtask`: a part of the issue that is split.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::id::IssueId;
use symphony_core::issue::{Priority, Size};
use symphony_store::{NewSubtask, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::rows::issue_row;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateSubtask {
    /// One line, at most 300 characters.
    title: String,
    /// What to do, where, and how to tell that it is done. The worker sees this, not your plan.
    description: String,
    /// How urgent. Defaults to the priority of the issue you split.
    priority: Option<Named<Priority>>,
    /// How much work.
    size: Option<Named<Size>>,
    /// Identifiers of issues that must be done first, such as SYM-12; usually sub-tasks that you created earlier.
    #[serde(default)]
    depends_on: Vec<String>,
}

impl ToolCall for CreateSubtask {
    const DESCRIPTION: &str = "Creates one sub-task of the issue you split: a piece that one worker can finish and that can be reviewed on \
        its own. 2 to 6 are usual, at most 20 per run. From the first one on, the issue waits until all have ended.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let depends_on = self
            .depends_on
            .into_iter()
            .map(IssueId::parse)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| ToolError::new(format!("depends_on: {error}")))?;
        let made = store.add_subtask(
            &identity.context(),
            &NewSubtask {
                parent: identity.own_issue()?.clone(),
                title: self.title,
                description: self.description,
                priority: self.priority.map(|Named(priority)| priority),
                size: self.size.map(|Named(size)| size),
                depends_on,
            },
        )?;
        let (id, parent) = (&made.issue.id, &made.parent.id);
        let message = format!(
            "created {id}, a sub-task of {parent}, which now waits until all its sub-tasks have ended"
        );
        Ok(Answer::new(message)
            .with("issue", issue_row(&made.issue))
            .with(
                "parent",
                json!({ "identifier": parent, "status": made.parent.state.status() }),
            ))
    }
}
