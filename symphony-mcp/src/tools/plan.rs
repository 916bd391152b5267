//! `complete_phase` of a plan's run: the outcome of the phase, and what it passes on (spec: plan, "Artifacts").

use serde_json::json;
use symphony_core::issue::{check_required_text, check_text};
use symphony_core::plan::Artifact;
use symphony_core::plan::artifacts::check_artifacts;
use symphony_core::plan::state::{PhaseOutcome, ReportedOutcome};
use symphony_core::run::RunTarget;
use symphony_store::{RecordedOutcome, Store};

use crate::answer::{Answer, ToolError};
use crate::committable::{Nested, base_head, open, refuse_secrets, settle_nested};
use crate::identity::Identity;
use crate::params::{ArtifactParam, CompletePlanPhase};

/// `complete_phase`
pub(super) fn complete_phase(
    store: &mut Store,
    identity: &Identity,
    params: CompletePlanPhase,
) -> Result<Answer, ToolError> {
    let run = identity
        .actor
        .run()
        .ok_or_else(|| ToolError::new("only the run of a plan's phase can end it"))?;
    let outcome = match (params.outcome.0, params.error) {
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
        // first, so that the agent does not learn of it only after it has put everything else right
        if let RunTarget::PlanPhase(plan, phase) = store.run(run)?.target {
            store.require_phase_answers(&plan, &phase)?;
        }
        refuse_unmergeable(identity, Nested::from_parameter(params.absorb))?;
    }
    let artifacts: Vec<Artifact> = params.artifacts.into_iter().map(artifact).collect();
    let root = identity
        .directory
        .as_ref()
        .and_then(|directory| directory.to_str());
    let claims = check_artifacts(artifacts, root);
    if !claims.refused.is_empty() {
        let reasons: Vec<String> = claims.refused.iter().map(ToString::to_string).collect();
        return Err(ToolError::new(format!(
            "nothing was recorded. Fix these artifacts and call again: {}",
            reasons.join("; ")
        )));
    }
    let (count, name) = (claims.artifacts.len(), params.outcome.0);
    let recorded = RecordedOutcome {
        outcome,
        artifacts: claims.artifacts,
    };
    store.record_phase_outcome(&identity.context(), run, &recorded)?;
    Ok(Answer::new(format!(
        "recorded: the phase is {name}. Symphony collects and merges your work when this run ends. You are done: end your turn."
    ))
    .with("outcome", json!(name))
    .with("artifacts", json!(count)))
}

/// Refuses work that could not be merged as it is: files in a nested repository, copied files and their values in commits.
/// A phase that works in the project's own folder leaves everything where it is.
fn refuse_unmergeable(identity: &Identity, nested: Nested) -> Result<(), ToolError> {
    let Some(workspace) = &identity.workspace else {
        return Ok(());
    };
    let (repository, worktree) = open(workspace)?;
    let base = base_head(&repository, &workspace.base)?;
    let message = format!(
        "symphony({}): the files of a nested repository",
        workspace.key
    );
    settle_nested(&repository, &worktree, &base, (nested, &message))?;
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
