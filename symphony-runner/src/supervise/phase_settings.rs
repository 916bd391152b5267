//! Settings of a plan's phase for its own run, which override the project's configuration.

use symphony_core::config::{Millis, ProjectConfig, ProviderChoice, ProviderName};
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

/// Overrides the configuration with the phase's time limit and model, and with the provider that the run was claimed
/// for.
pub(super) fn phase_settings(config: &mut ProjectConfig, phase: &Phase, run: &Run) {
    config.turn_timeout_ms = Millis::new(phase.effective_timeout_ms());
    // The claim checked the holds of this provider.
    if let Ok(provider) = ProviderName::parse(&run.provider) {
        config.provider = ProviderChoice::Named(provider);
    }
    // This layer of the model takes precedence over all others. A plan's phase counts as the phase `ready`.
    if let (Some(model), Ok(ready)) = (&phase.model, PhaseName::parse("ready")) {
        config.phase_models.insert(ready, model.clone());
    }
}
