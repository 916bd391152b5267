//! Which of the models that are configured a run gets.

use serde::{Deserialize, Serialize};

use super::model::{ModelChoice, ModelName, ModelSource};
use super::provider::ProviderLayers;

/// What each source says; `None` and `inherit` both leave it to the next.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelLayers<'a> {
    /// The issue's choice.
    pub issue: Option<&'a ModelName>,
    /// The choice of a plan's phase.
    pub plan_phase: Option<&'a ModelChoice>,
    /// The project's model for the phase.
    pub project_phase: Option<&'a ModelChoice>,
    /// The phase's contract.
    pub contract: Option<&'a ModelChoice>,
    /// The profile's front matter.
    pub profile: Option<&'a ModelChoice>,
    /// The profile's override in the database.
    pub database_profile: Option<&'a ModelChoice>,
    /// The project's configuration.
    pub project: Option<&'a ModelChoice>,
    /// The installation's configuration.
    pub global: Option<&'a ModelChoice>,
    /// The settings of the provider that is used.
    pub provider: Option<&'a ModelChoice>,
}

/// A model and where it was configured; both are recorded with the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedModel {
    /// The model.
    pub model: ModelName,
    /// Who named it.
    pub source: ModelSource,
}

impl ModelLayers<'_> {
    /// Returns the first configured model of the provider that is used; `None` if there is none, and the provider's CLI
    /// decides.
    pub fn resolve(&self, providers: &ProviderLayers<'_>) -> Option<ResolvedModel> {
        let mut sources = ModelSource::ALL.iter();
        sources.find_map(|source| {
            let choice = match source {
                ModelSource::Issue => return self.issue.map(|model| named(model, *source)),
                ModelSource::PlanPhase => self.plan_phase,
                ModelSource::ProjectPhase => self.project_phase,
                ModelSource::Contract => self.contract,
                ModelSource::Profile => self.profile,
                ModelSource::DatabaseProfile => self.database_profile,
                ModelSource::Project => self.project,
                ModelSource::Global => self.global,
                ModelSource::Provider => self.provider,
            };
            let choice = choice.filter(|_| providers.names_models_of_used(*source));
            choice?.named().map(|model| named(model, *source))
        })
    }
}

fn named(model: &ModelName, source: ModelSource) -> ResolvedModel {
    ResolvedModel {
        model: model.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_source_that_names_a_model_wins() {
        let names = ["p", "a", "b", "c", "d", "e", "f", "g"];
        let names = names.map(|name| ModelChoice::parse(name).unwrap());
        let inherit = ModelChoice::Inherit;
        for first in 0..=names.len() {
            // Every second source before the first that names a model says `inherit`, the others are silent.
            let pick = |index: usize| {
                if index >= first {
                    names.get(index)
                } else {
                    index.is_multiple_of(2).then_some(&inherit)
                }
            };
            let layers = ModelLayers {
                issue: None,
                plan_phase: pick(0),
                project_phase: pick(1),
                contract: pick(2),
                profile: pick(3),
                database_profile: pick(4),
                project: pick(5),
                global: pick(6),
                provider: pick(7),
            };
            let expected = names.get(first).map(|choice| ResolvedModel {
                model: choice.named().unwrap().clone(),
                source: ModelSource::ALL[first + 1],
            });
            let providers = ProviderLayers::default();
            assert_eq!(layers.resolve(&providers), expected, "{first}");
            let own = ModelName::parse("own").unwrap();
            let with_issue = ModelLayers {
                issue: Some(&own),
                ..layers
            };
            let found = with_issue.resolve(&providers).unwrap();
            assert_eq!((found.model, found.source), (own, ModelSource::Issue));
        }
    }

    #[test]
    fn a_model_is_used_with_the_provider_that_it_was_named_for() {
        let choice = |name| ModelChoice::parse(name).unwrap();
        let (project, profile, phase) = (choice("opus"), choice("of-profile"), choice("of-phase"));
        let layers = |has_profile: bool, has_phase: bool| ModelLayers {
            project_phase: has_phase.then_some(&phase),
            profile: has_profile.then_some(&profile),
            project: Some(&project),
            global: Some(&project),
            ..ModelLayers::default()
        };
        let (claude, codex) = (Some("claude-cli"), Some("codex-cli"));
        let providers = |issue, profile| ProviderLayers {
            issue,
            profile,
            project: claude,
            ..ProviderLayers::default()
        };
        for (layers, providers, expected) in [
            (layers(false, false), providers(None, None), Some("opus")),
            (layers(false, false), providers(claude, None), Some("opus")),
            (
                layers(false, true),
                providers(claude, None),
                Some("of-phase"),
            ),
            (layers(false, true), providers(codex, None), None),
            (layers(true, true), providers(codex, None), None),
            // the profile's model is one of the profile's provider
            (
                layers(true, true),
                providers(None, codex),
                Some("of-profile"),
            ),
            (layers(false, true), providers(None, codex), None),
            (
                layers(true, false),
                providers(codex, codex),
                Some("of-profile"),
            ),
            (
                layers(true, true),
                providers(claude, codex),
                Some("of-phase"),
            ),
            (layers(true, false), providers(claude, codex), Some("opus")),
        ] {
            let found = layers.resolve(&providers);
            let found = found.as_ref().map(|found| found.model.as_str());
            assert_eq!(found, expected, "{providers:?} {layers:?}");
        }
    }
}
