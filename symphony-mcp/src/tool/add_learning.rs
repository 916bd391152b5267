//! `add_learning`: what will help with other issues too.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::id::LearningId;
use symphony_core::learning::{LearningState, LearningType, check_pattern_length};
use symphony_store::{LearningAddition, LearningRecord, NewLearning, Store};
use uuid::Uuid;

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::tool_call::ToolCall;
use crate::work::committable::open;

/// What an agent reads if its learning is too long.
const SHORTEN: &str = "State the rule and when it applies, in one or two sentences. Leave out how you found it, name files in `applies_to`, and \
    record anything else as a separate learning";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddLearning {
    /// One or two sentences that will help with other issues too. At most 600 characters.
    pattern: String,
    /// The kind of learning.
    learning_type: Option<Named<LearningType>>,
    /// The paths it applies to. At most 100.
    #[serde(default)]
    applies_to: Vec<String>,
}

impl ToolCall for AddLearning {
    const DESCRIPTION: &str =
        "Records something that will help with other issues of this project too.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        check_pattern_length(&self.pattern)
            .map_err(|error| ToolError::new(format!("{error}. {SHORTEN}")))?;
        let id = LearningId::parse(Uuid::now_v7().to_string())
            .map_err(|error| ToolError::new(error.to_string()))?;
        let addition = store.add_learning(
            &identity.context(),
            &NewLearning {
                id,
                project: identity.project.clone(),
                issue: identity.issue.clone(),
                commit: head_commit(identity),
                pattern: self.pattern,
                learning_type: self.learning_type.map(|Named(kind)| kind),
                applies_to: self.applies_to,
            },
        )?;
        match addition {
            LearningAddition::Added(record) => {
                let message = match record.state {
                    LearningState::Proposed => {
                        "recorded the learning; other issues get it once your work is done"
                    }
                    _ => "recorded the learning",
                };
                Ok(answer(message, &record))
            }
            LearningAddition::Seconded(record) => Ok(answer(
                "another run has already proposed this; your work was added to its sources",
                &record,
            )),
            LearningAddition::Known(record) => Err(known(&record)),
        }
    }
}

fn answer(message: &str, record: &LearningRecord) -> Answer {
    Answer::new(message)
        .with("id", json!(record.learning.id))
        .with("state", json!(record.state))
}

/// Refuses a duplicate: a second learning with the same rule would only take space in prompts.
fn known(record: &LearningRecord) -> ToolError {
    let (id, pattern) = (&record.learning.id, &record.learning.pattern);
    ToolError::new(match record.state {
        LearningState::Retired => {
            format!(
                "learning {id} says the same, and a person has retired it; do not record it again"
            )
        }
        _ => format!(
            "learning {id} already says this: {pattern}\nRecord only what it does not say, or nothing"
        ),
    })
}

/// Returns the head commit of the session's worktree; `None` if it has none, or git fails: a learning is worth keeping
/// without it.
fn head_commit(identity: &Identity) -> Option<String> {
    let (repository, worktree) = open(identity.workspace.as_ref()?).ok()?;
    let head = repository.head(&worktree).ok()?;
    Some(head.as_str().to_owned())
}
