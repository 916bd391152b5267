//! `record_coverage`: which file was read for what.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_store::{NewCoverage, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordCoverage {
    /// The file, relative to the project.
    file: String,
    /// What you read it for, in a few words.
    concept: String,
    /// What you found there.
    #[serde(default)]
    notes: String,
}

impl ToolCall for RecordCoverage {
    const DESCRIPTION: &str = "Records that you read a file to learn about a concept. A new record of the same file and concept replaces the earlier one.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let record = store.record_coverage(
            &identity.context(),
            &NewCoverage {
                project: identity.project.clone(),
                file: self.file,
                concept: self.concept,
                notes: self.notes,
            },
        )?;
        Ok(Answer::new(format!(
            "noted that you read {} for `{}`",
            record.file, record.concept
        )))
    }
}
