//! `approve_phase`: a judge approves what a phase delivered.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::review::verdict::{Approval, judge_delivery};
use crate::rows::delivery_row;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ApprovePhase(Approval);

impl ToolCall for ApprovePhase {
    const DESCRIPTION: &str = "Approves the delivery you review, at the commit you were shown; the issue continues with its next phase. Close every \
        open `must` point in the same call.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let delivery = judge_delivery(store, identity, self.0)?;
        let then = match &delivery.next_phase {
            _ if delivery.is_approved() => {
                "it takes effect when the person whose review points are open has closed them"
                    .to_owned()
            }
            Some(next) => format!("{} continues with `{next}`", delivery.issue),
            None => format!(
                "{} has no further phase: a person looks at it",
                delivery.issue
            ),
        };
        let message = format!("approved the phase `{}`; {then}", delivery.phase);
        Ok(Answer::new(message).with("claim", delivery_row(&delivery)))
    }
}
