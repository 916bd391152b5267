//! Passing artifacts on.

use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;

/// The field of `metadata` that names the phase an artifact came from.
pub const SOURCE_PHASE: &str = "sourcePhase";

/// Joins the artifacts of several phases, in the order given, each with its source in `metadata.sourcePhase`.
pub fn pass_on<'a>(
    sources: impl IntoIterator<Item = (&'a PlanPhaseId, &'a [Artifact])>,
) -> Vec<Artifact> {
    let mut passed = Vec::new();
    for (source, artifacts) in sources {
        for artifact in artifacts {
            let mut artifact = artifact.clone();
            artifact
                .metadata
                .get_or_insert_default()
                .insert(SOURCE_PHASE.to_owned(), source.as_str().into());
            passed.push(artifact);
        }
    }
    passed
}
