//! The providers that are named beside the project's.

use std::collections::BTreeMap;

use crate::agent::AgentType;

/// The providers that profiles and issues name instead of the project's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedProviders {
    /// Those of profiles, by agent.
    pub of_profiles: BTreeMap<AgentType, String>,
    /// Why those that cannot be used cannot, by name.
    pub unusable: BTreeMap<String, String>,
    /// The full names of those that have a shorter one, by the shorter one: holds and sessions know only the full name.
    pub full_names: BTreeMap<String, String>,
}

impl NamedProviders {
    /// Returns the name under which holds and sessions of a provider are kept.
    pub fn full<'n>(&'n self, name: &'n str) -> &'n str {
        self.full_names.get(name).map_or(name, String::as_str)
    }
}
