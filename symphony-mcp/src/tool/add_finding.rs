//! `add_finding`: what the next reader needs to know of an issue, or of the project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::issue::FindingKind;
use symphony_core::tools::Role;
use symphony_store::{NewFinding, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddFinding {
    /// The kind of finding.
    kind: Named<FindingKind>,
    /// The finding itself.
    text: String,
    /// The files it is about, relative to the project. At most 100.
    #[serde(default)]
    files: Vec<String>,
}

impl ToolCall for AddFinding {
    const DESCRIPTION: &str =
        "Records a finding on the issue you work on: what the next reader needs to know.";

    fn description(role: Role) -> &'static str {
        match role {
            Role::Scanner | Role::BackgroundResearcher => {
                "Records a finding about the project as a whole: what people and the next agent need to know."
            }
            _ => Self::DESCRIPTION,
        }
    }

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let new = NewFinding {
            kind: self.kind.0,
            text: self.text,
            files: self.files,
        };
        let context = identity.context();
        // A scanner or background researcher has no issue: its findings are about the project.
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
}
