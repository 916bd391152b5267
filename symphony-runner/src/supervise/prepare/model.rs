//! Which provider and model a run uses, and where they are set.

use symphony_core::profile::{ProviderLayers, ProviderSource, ResolvedModel};
use symphony_core::run::RunTarget;
use symphony_core::tick::{obeys_issue, phase_of_model};

use crate::models::{Asker, resolve_model};
use crate::prompts::library::PromptLibrary;
use crate::supervise::Job;

/// What a run was started with.
#[derive(Debug)]
pub(super) struct ChosenAgent {
    /// Where the provider is set; `None` if that was changed since the claim.
    pub(super) provider_source: Option<ProviderSource>,
    /// The model; `None` for the provider's default.
    pub(super) model: Option<ResolvedModel>,
}

/// Resolves the model of a run (spec: contracts, "Model"), and finds where its provider was chosen.
pub(super) fn chosen_agent(job: &Job<'_>, library: &PromptLibrary) -> ChosenAgent {
    let (target, agent) = (&job.run.target, &job.run.agent);
    let phase = phase_of_model(target, agent, job.run.phase.as_ref());
    let issue = job.issue.as_ref().map(|issue| &issue.choice);
    let asker = match target {
        RunTarget::PlanPhase(..) => {
            let own = job.plan_phase.as_ref();
            let provider = own.and_then(|own| own.provider.as_ref());
            Asker::PlanPhase(
                // it may be `auto`
                provider.map(|_own| job.run.provider.as_str()),
                own.and_then(|own| own.model.as_deref()),
            )
        }
        _ => Asker::Agent(
            job.profile(library),
            phase.as_ref(),
            issue.filter(|_| obeys_issue(target, agent)),
        ),
    };
    let project = job
        .installation
        .usable_provider(&job.config, job.project_provider.clone());
    let project = project.ok();
    let providers = ProviderLayers {
        is_configured: job.project_provider.named().is_some(),
        ..asker.providers(&job.config, project.as_deref())
    };
    ChosenAgent {
        provider_source: providers.source_of(&job.run.provider),
        model: resolve_model(
            job.installation,
            &job.config,
            project.as_deref(),
            library,
            &job.overrides.model,
            asker,
        ),
    }
}
