//! Which model a run uses, and where it is set.

use symphony_core::profile::ResolvedModel;
use symphony_core::run::RunTarget;
use symphony_core::tick::phase_of_model;

use crate::models::{Asker, resolve_model};
use crate::prompts::library::PromptLibrary;
use crate::supervise::Job;

/// Resolves the model of a run (spec: contracts, "Model").
pub(super) fn model(job: &Job<'_>, library: &PromptLibrary) -> Option<ResolvedModel> {
    let phase = phase_of_model(&job.run.target, &job.run.agent, job.run.phase.as_ref());
    let asker = match job.run.target {
        // The model that the phase itself names is already in the configuration, for the phase `ready`.
        RunTarget::PlanPhase(..) => Asker::PlanPhase(None),
        _ => Asker::Agent(job.profile(library), phase.as_ref()),
    };
    let from_database = &job.overrides.model;
    resolve_model(job.installation, &job.config, library, from_database, asker)
}
