//! Agent types: who does the work.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{IdError, PhaseName};

/// The type of an agent: one of the shipped seven, the setup wizard, or a project's own.
///
/// The legacy names `implementer` and `reviewer` parse as [`AgentType::Worker`] and [`AgentType::Judge`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum AgentType {
    /// Implements an issue and opens a pull request.
    Worker,
    /// Reviews a pull request or a phase's artifact.
    Judge,
    /// Splits an issue into sub-tasks; also grooms.
    Planner,
    /// Reads and writes up what is there.
    Researcher,
    /// Designs.
    Architect,
    /// Triages the backlog.
    Intake,
    /// Searches for work when the backlog is empty.
    Scanner,
    /// Configures a project once.
    Wizard,
    /// No agent: Symphony itself runs the gates of a pull request, or of the base.
    Gates,
    /// A project's own type, by its kebab-case name.
    Custom(PhaseName),
}

impl AgentType {
    /// The types that ship with a profile.
    pub const SHIPPED: [Self; 7] = [
        Self::Worker,
        Self::Judge,
        Self::Planner,
        Self::Researcher,
        Self::Architect,
        Self::Intake,
        Self::Scanner,
    ];

    /// Parses a type's name, legacy names included.
    ///
    /// # Errors
    /// When the name is not kebab-case.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        Ok(match text {
            "worker" | "implementer" => Self::Worker,
            "judge" | "reviewer" => Self::Judge,
            "planner" => Self::Planner,
            "researcher" => Self::Researcher,
            "architect" => Self::Architect,
            "intake" => Self::Intake,
            "scanner" => Self::Scanner,
            "wizard" => Self::Wizard,
            "gates" => Self::Gates,
            other => Self::Custom(PhaseName::parse(other).map_err(|error| IdError {
                expected: "an agent type (kebab-case, at most 64 characters)",
                ..error
            })?),
        })
    }

    /// Returns the type's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Worker => "worker",
            Self::Judge => "judge",
            Self::Planner => "planner",
            Self::Researcher => "researcher",
            Self::Architect => "architect",
            Self::Intake => "intake",
            Self::Scanner => "scanner",
            Self::Wizard => "wizard",
            Self::Gates => "gates",
            Self::Custom(name) => name.as_str(),
        }
    }
}

impl fmt::Display for AgentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TryFrom<String> for AgentType {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl std::str::FromStr for AgentType {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl From<AgentType> for String {
    fn from(agent: AgentType) -> Self {
        agent.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_legacy_names_resolve() {
        for agent in AgentType::SHIPPED {
            assert_eq!(AgentType::parse(agent.name()), Ok(agent));
        }
        assert_eq!(AgentType::parse("implementer"), Ok(AgentType::Worker));
        assert_eq!(AgentType::parse("reviewer"), Ok(AgentType::Judge));
        assert_eq!(AgentType::parse("doc-writer").unwrap().name(), "doc-writer");
        assert!(AgentType::parse("No Such").is_err());
    }
}
