//! `approve_done`: a judge agrees that nothing is left to do.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_store::Store;
use symphony_workspace::Failpoint;

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, Reviewed};
use crate::review::verdict::{Approval, judge_pull_request};
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ApproveDone(Approval);

impl ToolCall for ApproveDone {
    const DESCRIPTION: &str = "Approves the proposal that nothing is left to do: on the commit you were shown, every requirement of the issue is met. \
        Close every open `must` point in the same call.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let (found, commit) = judge_pull_request(store, identity, Reviewed::Proposal, self.0)?;
        Failpoint::DoneJudged.reach();
        let message = format!(
            "approved proposal {} on commit {commit}: nothing is left to do. A person confirms it, or Symphony does where the project allows that",
            found.id
        );
        Ok(Answer::new(message).with("state", json!(found.state)))
    }
}
