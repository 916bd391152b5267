//! A run's own settings, which override the project's configuration.

use symphony_core::config::{Millis, NamedProvider, ProjectConfig, ProviderChoice};
use symphony_core::id::PlanPhaseId;
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

/// Overrides the configuration with the time limit of a plan's phase.
pub(super) fn phase_settings(config: &mut ProjectConfig, phase: &Phase) {
    config.turn_timeout_ms = Millis::new(phase.effective_timeout_ms());
}

/// Overrides the configuration with the provider that a run was claimed for: the claim checked the holds of this one.
/// Gates have no provider.
pub(super) fn claimed_provider(config: &mut ProjectConfig, run: &Run) {
    if let Ok(provider) = NamedProvider::parse(&run.provider) {
        config.provider = ProviderChoice::Named(provider);
    }
}
