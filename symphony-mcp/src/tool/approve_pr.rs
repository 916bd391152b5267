//! `approve_pr`: a judge approves a change.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::pull_request::PrState;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, Reviewed};
use crate::review::verdict::{Approval, judge_pull_request};
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ApprovePr(Approval);

impl ToolCall for ApprovePr {
    const DESCRIPTION: &str = "Approves the pull request you review, at the commit you were shown. Close every open `must` point in the same call.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let (pr, commit) = judge_pull_request(store, identity, Reviewed::Change, self.0)?;
        let message = if pr.state == PrState::Approved {
            format!(
                "approved pull request {} at commit {commit}; a person merges it",
                pr.id
            )
        } else {
            format!(
                "recorded your approval of pull request {} at commit {commit}: it takes effect when the person whose review points are open has \
                 closed them",
                pr.id
            )
        };
        Ok(Answer::new(message).with("state", json!(pr.state)))
    }
}
