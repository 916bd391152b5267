//! The short template, for a skill that dispatches its phases itself.

use symphony_core::plan::{Artifact, Phase};

use crate::worker::template::{artifact_text, bullets, numbered};

const REPORT_REQUEST: &str = "When you are done, report:\n\
    - files created and modified\n\
    - key decisions\n\
    - issues encountered";

/// Builds the short prompt of a phase, with the artifacts of the phases it draws on.
pub fn build_task_prompt(phase: &Phase, artifacts: &[Artifact]) -> String {
    let passed_on: Vec<String> = artifacts
        .iter()
        .map(|artifact| {
            let source = artifact
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("sourcePhase"))
                .and_then(|source| source.as_str());
            let text = artifact_text(artifact);
            match source {
                Some(source) => format!("{text} ({}, from {source})", artifact.kind),
                None => format!("{text} ({})", artifact.kind),
            }
        })
        .collect();
    let parts = [
        format!("## Phase: {}", phase.title.trim()),
        labelled("Objective", " ", phase.objective.trim()),
        labelled("Tasks", "\n", &numbered(&phase.tasks)),
        labelled(
            "Context Files",
            "\n",
            &bullets(&phase.required_context.files),
        ),
        labelled("Artifacts from Dependencies", "\n", &bullets(&passed_on)),
        labelled("Success Criteria", " ", phase.success_criteria.trim()),
        labelled("Constraints", "\n", &bullets(&phase.constraints)),
        REPORT_REQUEST.to_owned(),
    ];
    let present: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    present.join("\n\n") + "\n"
}

fn labelled(label: &str, separator: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("**{label}**:{separator}{text}")
    }
}
