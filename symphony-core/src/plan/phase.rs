//! One phase of a plan.

use serde::{Deserialize, Serialize};

use super::check::Check;
use crate::closed_set::closed_set;

closed_set!(
    /// The estimated size of a phase; any case parses in a plan file.
    Complexity, "complexity", {
        /// Under 5 minutes.
        Low = "low",
        /// 5 to 15 minutes.
        Medium = "medium",
        /// Over 15 minutes.
        High = "high",
    }
);

/// Longest time limit of a phase, in milliseconds: 30 days; a larger number is a mistake.
pub const TIMEOUT_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1_000;

impl Complexity {
    /// Returns the default time limit of a phase: 15, 30 or 60 minutes, in milliseconds.
    pub const fn timeout_ms(self) -> u64 {
        let minutes = match self {
            Self::Low => 15,
            Self::Medium => 30,
            Self::High => 60,
        };
        minutes * 60 * 1_000
    }
}

fn medium() -> Complexity {
    Complexity::Medium
}

fn any_case<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Complexity, D::Error> {
    let text = String::deserialize(deserializer)?;
    Complexity::parse(&text.to_ascii_lowercase()).map_err(serde::de::Error::custom)
}

/// What a phase needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequiredContext {
    /// Paths or globs, relative to the project.
    pub files: Vec<String>,
    /// Things to be familiar with.
    pub concepts: Vec<String>,
    /// Ids of the phases whose artifacts are passed on; each also counts as a dependency.
    pub artifacts_from: Vec<String>,
}

/// One phase of a plan, as written in the plan file. Rules on its fields are checked by the plan's validation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Kebab-case id, unique in the plan.
    pub id: String,
    /// Title.
    pub title: String,
    /// What the phase is for.
    pub objective: String,
    /// What to do, in order.
    pub tasks: Vec<String>,
    /// Ids of the phases that must be complete before.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// How long it is thought to take.
    #[serde(default = "medium", deserialize_with = "any_case")]
    pub complexity: Complexity,
    /// What it needs to know.
    #[serde(default)]
    pub required_context: RequiredContext,
    /// When it is complete.
    pub success_criteria: String,
    /// What it must not do.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Time limit in milliseconds; by complexity when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Model for this phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Provider for this phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What Symphony checks before the phase counts as complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

impl Phase {
    /// Returns the ids of the phases it waits for: its dependencies, then those whose artifacts it uses. An id may
    /// appear twice.
    pub fn sources(&self) -> impl Iterator<Item = &String> {
        self.dependencies
            .iter()
            .chain(&self.required_context.artifacts_from)
    }

    /// Returns the time limit in milliseconds: its own, or that of its complexity.
    pub fn effective_timeout_ms(&self) -> u64 {
        self.timeout_ms
            .unwrap_or_else(|| self.complexity.timeout_ms())
    }
}
