//! `create_issue`: a new issue for the backlog.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::issue::{IssueStatus, PHASE_LABEL_PREFIX, Priority, Size};
use symphony_core::profile::AgentChoice;
use symphony_store::{NewIssue, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::rows::issue_row;
use crate::tool_call::ToolCall;

/// The phase label of issues that agents create (spec: domain, "Phases").
const FIRST_PHASE_LABEL: &str = "phase:research";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateIssue {
    /// One line, at most 300 characters.
    title: String,
    /// What is wrong or wanted, where, and how to tell that it is done.
    #[serde(default)]
    description: String,
    /// At most 50 labels.
    #[serde(default)]
    labels: Vec<String>,
    /// How urgent.
    priority: Option<Named<Priority>>,
    /// How much work.
    size: Option<Named<Size>>,
}

impl ToolCall for CreateIssue {
    const DESCRIPTION: &str = "Files a new issue in the backlog. Refused if an open issue has nearly the same title. At most 20 per run.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let by_human = identity.actor.is_human();
        let mut labels = self.labels;
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
                title: self.title,
                description: self.description,
                status: IssueStatus::Backlog,
                priority: self
                    .priority
                    .map_or(Priority::None, |Named(priority)| priority),
                size: self.size.map(|Named(size)| size),
                labels,
                parent: None,
                depends_on: Vec::new(),
                external_id: None,
                choice: AgentChoice::default(),
            },
        )?;
        Ok(Answer::new(format!("filed {} in the backlog", issue.id))
            .with("issue", issue_row(&issue)))
    }
}
