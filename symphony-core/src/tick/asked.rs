//! What a run would ask for: its provider and its model, which holds are placed by.

use super::snapshot::ProjectView;
use crate::agent::AgentType;
use crate::id::PhaseName;
use crate::profile::{AgentChoice, ModelName, ProviderLayers};
use crate::run::RunTarget;

/// What a run would ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedAgent<'v> {
    /// The provider, or why it cannot be used.
    pub provider: Result<&'v str, &'v str>,
    /// The model; `None` for the provider's default. It is known only while a hold depends on it.
    pub model: Option<&'v str>,
}

/// Returns whether an issue's choice of an agent is meant for a run: for those who work on the issue, and neither for
/// its judges nor for intake.
pub fn obeys_issue(target: &RunTarget, agent: &AgentType) -> bool {
    matches!(target, RunTarget::Issue(_)) && *agent != AgentType::Intake
}

impl ProjectView {
    /// Returns what each place says about the provider of a run; `choice` is that of its issue.
    pub fn provider_layers<'v>(
        &'v self,
        target: &RunTarget,
        agent: &AgentType,
        choice: Option<&'v AgentChoice>,
    ) -> ProviderLayers<'v> {
        let choice = choice.filter(|_| obeys_issue(target, agent));
        // the phases of a plan have no profile
        let has_profile = !matches!(target, RunTarget::PlanPhase(..));
        let profile = self.named_providers.of_profiles.get(agent);
        let full = |name: &'v str| self.named_providers.full(name);
        ProviderLayers {
            issue: choice
                .and_then(|choice| choice.provider.as_deref())
                .map(full),
            plan_phase: None,
            profile: profile
                .filter(|_| has_profile)
                .map(String::as_str)
                .map(full),
            project: self.provider.as_deref().ok(),
            is_configured: true,
        }
    }

    /// Returns what a run would ask for; `choice` is that of its issue.
    pub fn asked<'v>(
        &'v self,
        target: &RunTarget,
        agent: &AgentType,
        phase: Option<&PhaseName>,
        choice: Option<&'v AgentChoice>,
    ) -> AskedAgent<'v> {
        let layers = self.provider_layers(target, agent, choice);
        let choice = choice.filter(|_| obeys_issue(target, agent));
        let own = choice.and_then(|choice| choice.model.as_ref());
        let other = || self.models.of(target, agent, phase, layers.issue);
        AskedAgent {
            provider: self.usable(layers.resolve().map(|(name, _)| name)),
            model: own.map(ModelName::as_str).or_else(other),
        }
    }

    fn usable<'v>(&'v self, provider: Option<&'v str>) -> Result<&'v str, &'v str> {
        let Some(name) = provider else {
            return self.provider.as_deref().map_err(String::as_str);
        };
        match self.named_providers.unusable.get(name) {
            Some(problem) => Err(problem),
            None => Ok(name),
        }
    }
}
