//! `reject_phase`: a judge rejects what a phase delivered.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::review::verdict::{Rejection, judge_delivery};
use crate::rows::delivery_row;
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct RejectPhase(Rejection);

impl ToolCall for RejectPhase {
    const DESCRIPTION: &str = "Rejects the delivery you review. The phase's next agent gets every open point in full and answers each one. Pass \
        one point for each problem; at most 50 can be open.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let delivery = judge_delivery(store, identity, self.0)?;
        let message = format!(
            "rejected the phase `{}`; {} goes back to an agent with every open point",
            delivery.phase, delivery.issue
        );
        Ok(Answer::new(message).with("claim", delivery_row(&delivery)))
    }
}
