//! All profiles of a project.

use std::collections::{BTreeMap, BTreeSet};

use super::agent_profile::{AgentProfile, ToolWarning};
use crate::agent::AgentType;

/// The profiles of a project, one per type. Immutable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileSet {
    profiles: BTreeMap<AgentType, AgentProfile>,
}

/// Why profiles form no set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileProblem {
    /// Two profiles of one layer are for the same type, with legacy names resolved.
    #[error("two profiles for the type `{agent}`: `{first}` and `{second}`")]
    Duplicate {
        /// The type.
        agent: AgentType,
        /// Name of the one that is kept.
        first: String,
        /// Name of the other.
        second: String,
    },
}

impl ProfileSet {
    /// Creates a set of profiles in layers, later layers winning: compiled-in ones, then a project's.
    ///
    /// # Errors
    /// All types for which one layer has two profiles.
    pub fn new(
        layers: impl IntoIterator<Item = Vec<AgentProfile>>,
    ) -> Result<Self, Vec<ProfileProblem>> {
        let mut problems = Vec::new();
        let mut profiles = BTreeMap::new();
        for layer in layers {
            let mut of_layer: BTreeMap<AgentType, AgentProfile> = BTreeMap::new();
            for profile in layer {
                if let Some(first) = of_layer.get(&profile.agent) {
                    problems.push(ProfileProblem::Duplicate {
                        agent: profile.agent,
                        first: first.name.clone(),
                        second: profile.name,
                    });
                } else {
                    of_layer.insert(profile.agent.clone(), profile);
                }
            }
            profiles.append(&mut of_layer);
        }
        if problems.is_empty() {
            Ok(Self { profiles })
        } else {
            Err(problems)
        }
    }

    /// Returns the profile of a type.
    pub fn get(&self, agent: &AgentType) -> Option<&AgentProfile> {
        self.profiles.get(agent)
    }

    /// Iterates over the profiles by type.
    pub fn iter(&self) -> impl Iterator<Item = &AgentProfile> {
        self.profiles.values()
    }

    /// Returns the types that have a profile.
    pub fn types(&self) -> BTreeSet<AgentType> {
        self.profiles.keys().cloned().collect()
    }

    /// Reports, type by type, what is wrong with the tool lists.
    pub fn warnings(&self) -> Vec<(AgentType, ToolWarning)> {
        self.iter()
            .flat_map(|profile| {
                let agent = profile.agent.clone();
                profile
                    .warnings()
                    .into_iter()
                    .map(move |problem| (agent.clone(), problem))
            })
            .collect()
    }
}
