//! Which model runs an agent, and who said so.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::front_matter::Reader;
use crate::id::IdError;

/// Longest name of a model, in characters.
const MODEL_CHARS_MAX: usize = 128;

/// The name of a model, as a provider's CLI takes it: no white space, and never mistaken for a flag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName(String);

impl ModelName {
    /// Parses a name.
    ///
    /// # Errors
    /// When it is empty, too long, begins with a dash, or holds white space or control characters.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let plain = |c: char| !c.is_whitespace() && !c.is_control();
        if text.is_empty()
            || text.starts_with('-')
            || text.chars().count() > MODEL_CHARS_MAX
            || !text.chars().all(plain)
        {
            return Err(IdError {
                found: text.to_owned(),
                expected: "the name of a model",
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for ModelName {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<ModelName> for String {
    fn from(model: ModelName) -> Self {
        model.0
    }
}

/// A model, or whatever the next source says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelChoice {
    /// `inherit`: the next source decides.
    #[default]
    Inherit,
    /// A model.
    Named(ModelName),
}

impl ModelChoice {
    /// Parses `inherit` or a model's name.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        if text == "inherit" {
            return Ok(Self::Inherit);
        }
        ModelName::parse(text).map(Self::Named)
    }

    /// Returns the model when one is named.
    pub fn named(&self) -> Option<&ModelName> {
        match self {
            Self::Inherit => None,
            Self::Named(model) => Some(model),
        }
    }

    /// Reads the field `model`, which is `inherit` when absent.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        reader
            .parsed("model", "the name of a model, or `inherit`", |text| {
                Self::parse(text).ok()
            })
            .unwrap_or_default()
    }
}

impl TryFrom<String> for ModelChoice {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<ModelChoice> for String {
    fn from(choice: ModelChoice) -> Self {
        match choice {
            ModelChoice::Inherit => "inherit".to_owned(),
            ModelChoice::Named(model) => model.0,
        }
    }
}

closed_set!(
    /// Where the model was configured; the order of the values is their precedence.
    ModelSource, "model source", {
        /// The issue.
        Issue = "issue",
        /// The phase of a plan, in the plan's file.
        PlanPhase = "plan phase",
        /// The project's model for the phase (`phase_models`).
        ProjectPhase = "project phase",
        /// The phase's contract.
        Contract = "contract",
        /// The profile's front matter.
        Profile = "profile",
        /// The profile's override in the database.
        DatabaseProfile = "database profile",
        /// The project's configuration.
        Project = "project",
        /// The installation's configuration.
        Global = "global",
        /// The settings of the provider itself.
        Provider = "provider",
    }
);

impl ModelSource {
    /// Returns the place in words, as a remark on the model.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Issue => "set on the issue",
            Self::PlanPhase => "set in the plan",
            Self::ProjectPhase => "set in the configuration for the phase",
            Self::Contract => "set in the phase's contract",
            Self::Profile => "set in the profile",
            Self::DatabaseProfile => "set with `symphony profile set`",
            Self::Project => "set in the configuration of the project",
            Self::Global => "set in the configuration for all projects",
            Self::Provider => "set with the provider",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_never_a_flag() {
        for good in [
            "opus",
            "claude-sonnet-4-5",
            "gpt-5.1-codex",
            "bedrock/eu.x:0",
        ] {
            assert!(ModelName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-p", "--model", "a b", "a\n", &"x".repeat(129)] {
            assert!(ModelName::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            serde_json::from_str::<ModelChoice>("\"inherit\"").unwrap(),
            ModelChoice::Inherit
        );
    }
}
