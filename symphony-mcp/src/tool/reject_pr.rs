//! `reject_pr`: a judge rejects a change.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::pull_request::PullRequestOf;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, Reviewed};
use crate::review::verdict::{Rejection, judge_pull_request};
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct RejectPr(Rejection);

impl ToolCall for RejectPr {
    const DESCRIPTION: &str = "Rejects the pull request you review. The next worker gets every open point in full and answers each one. Pass one \
        point for each problem; at most 50 can be open.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let (pr, _) = judge_pull_request(store, identity, Reviewed::Change, self.0)?;
        let next = match &pr.of {
            PullRequestOf::Issue(issue) => {
                format!("{issue} goes back to a worker with every open point")
            }
            PullRequestOf::Plan(plan) => {
                format!("a person reads your points and decides how plan {plan} continues")
            }
        };
        let message = format!("rejected pull request {}; {next}", pr.id);
        Ok(Answer::new(message).with("state", json!(pr.state)))
    }
}
