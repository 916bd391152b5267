//! Which model a run uses, and where that was said.

use symphony_core::agent::AgentType;
use symphony_core::id::PhaseName;
use symphony_core::profile::{ModelChoice, ModelLayers, ResolvedModel};
use symphony_core::run::RunTarget;

use crate::library::PromptLibrary;
use crate::supervise::Job;

/// Resolves the model of a run (spec: contracts, "Model").
pub(super) fn model(job: &Job<'_>, library: &PromptLibrary) -> Option<ResolvedModel> {
    let choice = |text: &String| ModelChoice::parse(text).ok();
    // an issue without a phase label is treated as ready; what is said for a phase is said for its author, not its judge
    let ready = PhaseName::parse(PhaseName::READY).ok();
    let phase = job.run.phase.as_ref().or(ready.as_ref());
    let works = matches!(job.run.target, RunTarget::Issue(_)) && job.run.agent != AgentType::Intake;
    let phase = phase.filter(|_| works);
    let project_phase = phase
        .and_then(|phase| job.config.phase_models.get(phase))
        .and_then(choice);
    let contract = phase.and_then(|phase| library.pipeline.get(phase));
    let project = job.config.model.as_ref().and_then(choice);
    let global = job
        .installation
        .config
        .defaults
        .model
        .as_ref()
        .and_then(choice);
    ModelLayers {
        project_phase: project_phase.as_ref(),
        contract: contract.map(|contract| &contract.model),
        profile: job.profile(library).map(|profile| &profile.model),
        database_profile: Some(&job.overrides.model),
        project: project.as_ref(),
        global: global.as_ref(),
    }
    .resolve()
}
