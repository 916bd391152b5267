//! What a plan's phase says about its own run, laid over the project's configuration.

use symphony_core::config::{Millis, ProjectConfig, ProviderChoice};
use symphony_core::id::{PhaseName, PlanPhaseId};
use symphony_core::plan::Phase;
use symphony_core::run::Run;
use symphony_store::PlanRecord;

/// Finds a phase in a plan's file.
pub(crate) fn phase_of_plan<'a>(plan: &'a PlanRecord, id: &PlanPhaseId) -> Option<&'a Phase> {
    plan.document
        .phases
        .iter()
        .find(|phase| phase.id == id.as_str())
}

/// Lays the phase's time limit and model, and the provider that the run was claimed for, over the configuration.
pub(super) fn phase_settings(config: &mut ProjectConfig, phase: &Phase, run: &Run) {
    config.turn_timeout_ms = Millis::new(phase.effective_timeout_ms());
    // the holds that the claim looked at were this provider's
    if let Ok(provider) = ProviderChoice::parse(&run.provider) {
        config.provider = provider;
    }
    // the layer of the model that wins over all others; a plan's phase counts as the phase `ready`
    if let (Some(model), Ok(ready)) = (&phase.model, PhaseName::parse("ready")) {
        config.phase_models.insert(ready, model.clone());
    }
}
