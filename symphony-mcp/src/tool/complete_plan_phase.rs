//! `complete_phase` of a plan's run: the outcome of the phase, and what it passes on (spec: plan, "Artifacts").

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use symphony_core::issue::{check_required_text, check_text};
use symphony_core::plan::artifacts::check_artifacts;
use symphony_core::plan::state::{PhaseOutcome, ReportedOutcome};
use symphony_core::plan::{Artifact, ArtifactKind};
use symphony_core::run::RunTarget;
use symphony_store::{RecordedOutcome, Store};

use crate::answer::{Answer, ToolError};
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::tool_call::ToolCall;
use crate::work::committable::{Nested, base_head, open, refuse_secrets, settle_nested};

/// Something that a phase passes on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"type\": \"file_created\", \"path\": \"src/a.rs\"}"
)]
#[schemars(inline)]
struct ArtifactParam {
    /// What it is.
    #[serde(rename = "type")]
    kind: Named<ArtifactKind>,
    /// The file, relative to the project.
    path: Option<String>,
    /// The name of an export or a note.
    name: Option<String>,
    /// The content: a signature, a decision.
    content: Option<String>,
    /// Anything else.
    metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompletePlanPhase {
    /// How the phase ended.
    outcome: Named<ReportedOutcome>,
    /// What is missing and why, with the exact message of the tool or test that failed. Required for `failed`.
    error: Option<String>,
    /// What other phases have to know. At most 1,000.
    #[serde(default)]
    artifacts: Vec<ArtifactParam>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    absorb: bool,
}

impl ToolCall for CompletePlanPhase {
    const DESCRIPTION: &str = "Ends your phase of the plan: `complete` if all success criteria are met, otherwise `failed` with the exact message \
        of what failed. `artifacts` tell later phases what they need to know. Call it once, as the last thing you do. Refused \
        while a `must` point of a review has no answer and no other phase is left to give it.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let run = identity
            .actor
            .run()
            .ok_or_else(|| ToolError::new("only the run of a plan's phase can end it"))?;
        let outcome = match (self.outcome.0, self.error) {
            (ReportedOutcome::Complete, error) => {
                if let Some(error) = error {
                    check_text("error", &error)?;
                    if !error.trim().is_empty() {
                        return Err(ToolError::new(
                            "a phase with an `error` is not complete: pass `failed`, or omit the error",
                        ));
                    }
                }
                PhaseOutcome::Complete
            }
            (ReportedOutcome::Failed, error) => {
                let error = error.unwrap_or_default();
                check_required_text("error", &error)?;
                PhaseOutcome::Failed { error }
            }
        };
        if outcome == PhaseOutcome::Complete {
            // Checked first, so that the agent does not learn of it only after it has fixed everything else.
            if let RunTarget::PlanPhase(plan, phase) = store.run(run)?.target {
                store.require_phase_answers(&plan, &phase)?;
            }
            refuse_unmergeable(identity, Nested::from_parameter(self.absorb))?;
        }
        let artifacts: Vec<Artifact> = self.artifacts.into_iter().map(artifact).collect();
        let root = identity
            .directory
            .as_ref()
            .and_then(|directory| directory.to_str());
        let reported = check_artifacts(artifacts, root);
        if !reported.refused.is_empty() {
            let reasons: Vec<String> = reported.refused.iter().map(ToString::to_string).collect();
            return Err(ToolError::new(format!(
                "nothing was recorded. Fix these artifacts and call again: {}",
                reasons.join("; ")
            )));
        }
        let (count, name) = (reported.artifacts.len(), self.outcome.0);
        let recorded = RecordedOutcome {
            outcome,
            artifacts: reported.artifacts,
        };
        store.record_phase_outcome(&identity.context(), run, &recorded)?;
        Ok(Answer::new(format!(
            "recorded: the phase is {name}. Symphony collects and merges your work when this run ends. You are done: end your turn."
        ))
        .with("outcome", json!(name))
        .with("artifacts", json!(count)))
    }
}

/// Refuses work that could not be merged: files in a nested repository, copied files or their values in commits. A
/// phase that works in the project's own folder leaves everything in place.
fn refuse_unmergeable(identity: &Identity, nested: Nested) -> Result<(), ToolError> {
    let Some(workspace) = &identity.workspace else {
        return Ok(());
    };
    let (repository, worktree) = open(workspace)?;
    let base = base_head(&repository, &workspace.base)?;
    settle_nested(&repository, &worktree, &base, nested, &workspace.key)?;
    let head = repository.head(&worktree)?;
    refuse_secrets(&repository.scan_secrets(Some(&worktree), &base, &head)?)
}

fn artifact(param: ArtifactParam) -> Artifact {
    Artifact {
        kind: param.kind.0,
        path: param.path,
        name: param.name,
        content: param.content,
        metadata: param.metadata,
    }
}
