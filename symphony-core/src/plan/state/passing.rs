//! What a phase gets from the phases it asks.

use super::plan_state::PlanState;
use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::artifacts::pass_on;
use crate::plan::graph::Dag;

/// Returns the artifacts of the phases that `phase` names in `artifacts_from`: in its order, then in order of
/// production, each with `metadata.sourcePhase`. Empty for a phase that the plan does not have.
pub fn artifacts_for(dag: &Dag, state: &PlanState, phase: &PlanPhaseId) -> Vec<Artifact> {
    let sources = dag
        .position(phase)
        .map_or(&[][..], |at| dag.artifact_sources(at));
    pass_on(sources.iter().filter_map(|source| {
        let id = dag.ids().get(*source)?;
        Some((id, state.phases.get(id)?.artifacts.as_slice()))
    }))
}
