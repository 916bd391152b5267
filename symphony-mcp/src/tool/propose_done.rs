//! `propose_done`: proposes that nothing is left to do.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::done::{EvidenceKind, NewEvidence, check_count};
use symphony_core::hand_in::RefusalKind;
use symphony_core::wording::counted;
use symphony_store::Store;
use symphony_workspace::Failpoint;

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::review::points::require_answers;
use crate::tool_call::ToolCall;
use crate::work::evidence::read_proposal;

/// An item of evidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"kind\": \"file\", \"reference\": \"src/a.rs\", \"note\": \"has the check\"}"
)]
#[schemars(inline)]
struct EvidenceParam {
    /// What it names.
    kind: Named<EvidenceKind>,
    /// Its reference: a commit id, the number of a pull request, the name of a gate, a path from the root of the repository.
    reference: String,
    /// Which requirement it meets and how, in a sentence or two.
    #[serde(default)]
    note: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProposeDone {
    /// Why nothing is left to do: each requirement of the issue, and what meets it.
    reason: String,
    /// What proves it: 1 to 50 items, each checked when you call.
    evidence: Vec<EvidenceParam>,
}

impl ToolCall for ProposeDone {
    const DESCRIPTION: &str = "Says that nothing is left to do on the issue you work on: the base meets every requirement already. The issue goes to \
        review without a pull request. Refused while your branch has commits that are not merged, or a `must` point has no \
        answer; each item of evidence is checked at once, and a refusal names what is wrong.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let issue = identity.own_issue()?.clone();
        require_answers(store, identity)?;
        check_count(self.evidence.len())
            .map_err(|why| ToolError::of_kind(RefusalKind::Evidence, why))?;
        let workspace = identity.workspace.as_ref().ok_or_else(|| {
            ToolError::new(format!(
                "{issue} has no worktree: its base cannot be looked at"
            ))
        })?;
        let named = self.evidence.into_iter().map(|item| NewEvidence {
            kind: item.kind.0,
            reference: item.reference.trim().to_owned(),
            note: item.note,
        });
        let evidence: Vec<NewEvidence> = named.collect();
        let new = read_proposal(store, &issue, workspace, self.reason, &evidence)?;
        let proposal = store.propose_done(&identity.context(), &new)?;
        Failpoint::DoneProposed.reach();
        let message = format!(
            "recorded proposal {} that nothing is left to do on {issue}, with {} on commit {}. The issue is in review: Symphony \
             runs the gates on that commit when this run ends, and a judge checks what you say. You are done: end your turn.",
            proposal.id,
            counted(new.evidence.len() as u64, "piece") + " of evidence",
            proposal.head_commit
        );
        Ok(Answer::new(message).with(
            "proposal",
            json!({ "id": proposal.id, "base_commit": proposal.head_commit, "evidence": new.evidence }),
        ))
    }
}
