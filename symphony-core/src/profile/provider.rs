//! Which provider runs an agent, and where it was chosen.

use serde::{Deserialize, Serialize};

use super::model::{ModelName, ModelSource};
use crate::closed_set::closed_set;

/// The key under which a run's metadata has the [`ProviderSource`].
pub const PROVIDER_SOURCE: &str = "provider_source";
/// The key under which a run's metadata has the [`ModelSource`].
pub const MODEL_SOURCE: &str = "model_source";

closed_set!(
    /// Where the provider of a run was chosen; the order of the values is their precedence.
    ProviderSource, "provider source", {
        /// The issue.
        Issue = "issue",
        /// The phase of a plan, in the plan's file.
        PlanPhase = "plan phase",
        /// The front matter of the agent's profile.
        Profile = "profile",
        /// The configuration.
        Project = "project",
        /// No one: it is the first agent's CLI that is installed.
        Found = "found",
    }
);

impl ProviderSource {
    /// Returns the place in words, as a remark on the provider.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Issue => "set on the issue",
            Self::PlanPhase => "set in the plan",
            Self::Profile => "set in the profile",
            Self::Project => "set in the configuration",
            Self::Found => "the first one that is installed",
        }
    }
}

/// What an issue asks for its authors. Judges keep what the project uses, whatever model the author has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentChoice {
    /// The provider, as it is in the configuration. Kept as a text, since it may be of another version of Symphony.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<ModelName>,
}

/// What each place says about the provider; `None` leaves it to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProviderLayers<'a> {
    /// The issue's choice.
    pub issue: Option<&'a str>,
    /// The choice of a plan's phase.
    pub plan_phase: Option<&'a str>,
    /// The profile's choice.
    pub profile: Option<&'a str>,
    /// What the project uses, or would use if nothing else were chosen.
    pub project: Option<&'a str>,
    /// Whether the project's is configured, and not only the first one that was found.
    pub is_configured: bool,
}

impl<'a> ProviderLayers<'a> {
    fn get(&self, source: ProviderSource) -> Option<&'a str> {
        match source {
            ProviderSource::Issue => self.issue,
            ProviderSource::PlanPhase => self.plan_phase,
            ProviderSource::Profile => self.profile,
            ProviderSource::Project => self.project.filter(|_| self.is_configured),
            ProviderSource::Found => self.project.filter(|_| !self.is_configured),
        }
    }

    /// Returns the provider that the most specific place names, and that place.
    pub fn resolve(&self) -> Option<(&'a str, ProviderSource)> {
        let mut sources = ProviderSource::ALL.iter();
        sources.find_map(|source| Some((self.get(*source)?, *source)))
    }

    /// Returns the most specific place that names this provider.
    pub fn source_of(&self, provider: &str) -> Option<ProviderSource> {
        let mut sources = ProviderSource::ALL.iter().copied();
        sources.find(|source| self.get(*source) == Some(provider))
    }

    /// Returns whether a model that was set in this place is one of the provider that is used.
    ///
    /// Names of models mean nothing to another provider's CLI: `opus`, set for a project that uses Claude, would make
    /// each run fail of an issue that is worked on by Codex.
    pub(super) fn names_models_of_used(&self, source: ModelSource) -> bool {
        let used = self.resolve().map(|(used, _)| used);
        let meant = match source {
            ModelSource::Issue | ModelSource::PlanPhase | ModelSource::Provider => return true,
            ModelSource::Profile | ModelSource::DatabaseProfile => self.profile.or(self.project),
            ModelSource::ProjectPhase
            | ModelSource::Contract
            | ModelSource::Project
            | ModelSource::Global => self.project,
        };
        meant == used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_place_that_names_a_provider_wins() {
        use ProviderSource as S;
        let layers = |issue, plan_phase, profile, project, is_configured| ProviderLayers {
            issue,
            plan_phase,
            profile,
            project,
            is_configured,
        };
        let (a, b, c) = (Some("a"), Some("b"), Some("c"));
        for (layers, expected) in [
            (layers(a, None, b, c, true), Some(("a", S::Issue))),
            (layers(None, a, b, c, true), Some(("a", S::PlanPhase))),
            (layers(None, None, b, c, true), Some(("b", S::Profile))),
            (layers(None, None, None, c, true), Some(("c", S::Project))),
            (layers(None, None, None, c, false), Some(("c", S::Found))),
            (layers(a, None, None, None, false), Some(("a", S::Issue))),
            (layers(None, None, None, None, true), None),
        ] {
            assert_eq!(layers.resolve(), expected, "{layers:?}");
        }
        let all = layers(a, None, b, a, true);
        assert_eq!(all.source_of("a"), Some(S::Issue));
        assert_eq!(all.source_of("b"), Some(S::Profile));
        assert_eq!(all.source_of("z"), None);
    }
}
