//! What is known about the project and beside the issue.

use serde::{Deserialize, Serialize};

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GateCommand {
    /// Its name.
    pub name: String,
    /// The command, as it is typed.
    pub command: String,
    /// Whether a pull request may not be merged without it.
    #[serde(default = "yes")]
    pub required: bool,
}

/// What a gate said when Symphony ran it, on the commit under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    /// The gate's name.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// Tries on the same commit that failed before.
    #[serde(default)]
    pub failed_tries: usize,
    /// Whether a pull request may not be merged without it.
    #[serde(default = "yes")]
    pub required: bool,
    /// The commit it ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The end of its output; shown when it failed.
    #[serde(default)]
    pub output: String,
}

fn yes() -> bool {
    true
}

/// Leave to look things up outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExternalResearch {
    /// The most searches in one run.
    pub max_searches: u32,
}

impl Default for ExternalResearch {
    fn default() -> Self {
        Self { max_searches: 5 }
    }
}

/// A learning of another project of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectLearning {
    /// The project's name.
    pub project: String,
    /// What was learned.
    pub pattern: String,
}

/// A markdown note of the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VaultNote {
    /// Its path below the vault.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What was detected about a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ProjectContext {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Pairs such as `["Language", "rust"]`, in order.
    pub tech_stack: Vec<(String, String)>,
    /// Patterns inferred from the stack.
    pub patterns: Vec<String>,
}
