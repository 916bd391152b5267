//! `create_pr`: opens the pull request of the issue.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use symphony_core::pull_request::ReportedGate;
use symphony_core::wording::counted;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::review::criteria::{CriterionParam, read_checklist};
use crate::review::points::require_answers;
use crate::tool_call::ToolCall;
use crate::work::change::read_change;
use crate::work::committable::Nested;

/// Most gates that one call may report: more than any project has.
const REPORTED_GATES_MAX: usize = 50;

/// A gate as the agent ran it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"test\", \"passed\": true}"
)]
#[schemars(inline)]
struct GateResult {
    /// The gate's name.
    name: String,
    /// Whether it passed.
    passed: bool,
    /// The end of its output.
    #[serde(default)]
    output: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreatePr {
    /// One line, at most 300 characters.
    title: String,
    /// What was changed and why, and how it was tested.
    body: String,
    /// The results of the gates as you ran them. Symphony runs them again.
    #[serde(default)]
    gate_results: Vec<GateResult>,
    /// One answer to each acceptance criterion, by the numbers of your prompt. Omit it if the issue has no criteria.
    #[serde(default)]
    checklist: Vec<CriterionParam>,
    /// How you did it and why, for the reviewer. Recorded as an `approach` finding; omit it if you have recorded one.
    approach: Option<String>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    absorb: bool,
}

impl ToolCall for CreatePr {
    const DESCRIPTION: &str = "Opens the pull request for the issue you work on, from what is committed. The issue goes to review, and \
        Symphony runs the gates. Refused if nothing is committed, if the worktree has uncommitted changes, or while a \
        `must` point of a review has no answer.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let issue = identity.own_issue()?.clone();
        require_answers(store, identity)?;
        let checklist = read_checklist(store, identity, self.checklist)?;
        if self.gate_results.len() > REPORTED_GATES_MAX {
            return Err(ToolError::new(format!(
                "gate_results has more than {REPORTED_GATES_MAX} items"
            )));
        }
        let workspace = identity.workspace.as_ref().ok_or_else(|| {
            ToolError::new(format!(
                "{issue} has no worktree, so there is nothing to open a pull request from"
            ))
        })?;
        let nested = Nested::from_parameter(self.absorb);
        let mut new = read_change(&issue, workspace, nested)?;
        new.title = self.title;
        new.body = self.body;
        new.checklist = checklist;
        new.reported_gates = self
            .gate_results
            .into_iter()
            .map(|gate| ReportedGate {
                name: gate.name,
                passed: gate.passed,
                output: gate.output,
            })
            .collect();
        identity.before_hand_in.take(store, &new.head_commit)?;
        let approach = self
            .approach
            .as_deref()
            .filter(|text| !text.trim().is_empty());
        let pr = store.create_pr_with_approach(&identity.context(), &new, approach)?;
        let (insertions, deletions) = pr.totals();
        let message = format!(
            "opened pull request {} for {issue}: {}, +{insertions} -{deletions}, head {}. The issue is in review; \
             Symphony runs the gates when this run ends. You are done: end your turn.",
            pr.id,
            counted(pr.files.len() as u64, "file"),
            pr.head_commit
        );
        Ok(Answer::new(message).with(
            "pull_request",
            json!({ "id": pr.id, "head_commit": pr.head_commit, "files": pr.files, "checklist": pr.checklist }),
        ))
    }
}
