//! `reject_done`: a judge finds that something is left to do.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::pull_request::VerdictKind;
use symphony_store::Store;
use symphony_workspace::Failpoint;

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, Reviewed};
use crate::review::points::PointParam;
use crate::review::verdict::{Judgement, judge_pull_request};
use crate::tool_call::ToolCall;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectDone {
    /// A one-sentence summary. Without `points`, say here what is still missing, specifically enough to act on; it becomes one `must` point.
    feedback: Option<String>,
    /// One point for each thing that is still missing, and earlier points that are met or not met (`id`, `state`).
    #[serde(default)]
    points: Vec<PointParam>,
}

impl ToolCall for RejectDone {
    const DESCRIPTION: &str = "Rejects the proposal that nothing is left to do. The next worker gets every open point in full and answers each one. Pass \
        one point for each requirement that is not met; at most 50 can be open.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let said = Judgement {
            kind: VerdictKind::Rejected,
            comment: self.feedback,
            points: self.points,
        };
        let (found, _) = judge_pull_request(store, identity, Reviewed::Proposal, said)?;
        Failpoint::DoneJudged.reach();
        let message = format!(
            "rejected proposal {}; its issue goes back to a worker with every open point",
            found.id
        );
        Ok(Answer::new(message).with("state", json!(found.state)))
    }
}
