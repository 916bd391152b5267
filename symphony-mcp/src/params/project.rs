//! The arguments of `configure_project`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command. The schema names the text alone, since alternatives confuse clients; a list does no harm.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a command as a text")]
pub(crate) enum CommandSetting {
    /// Runs with `sh -c`.
    Shell(String),
    /// The program and its arguments.
    Argv(Vec<String>),
}

/// A quality gate.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"test\", \"command\": \"cargo test\"}"
)]
pub(crate) struct GateSetting {
    /// Its name, such as `test`.
    pub(crate) name: String,
    /// What is run in the project's root, as `sh -c` takes it: it only checks, and says by its exit code whether a commit
    /// is good.
    #[schemars(with = "String")]
    pub(crate) command: CommandSetting,
    /// Whether its failure sends the issue back; true when left out. Only a person makes a gate optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) required: Option<bool>,
    /// Its time limit; ten minutes when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
}

/// A threshold of risk; what is left out is the default.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskSetting {
    /// Changed files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<u64>,
    /// Changed lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<u64>,
}

/// Thresholds of risk.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskSettings {
    /// From where on a change is a medium risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) medium: Option<RiskSetting>,
    /// From where on it is a high one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<RiskSetting>,
}

/// `configure_project`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigureProject {
    /// The commands that every change has to pass; an empty list when nothing can be checked. At most 20.
    pub(crate) gates: Vec<GateSetting>,
    /// The command that makes a fresh checkout ready for the gates, such as `npm ci`; without it the one that was detected
    /// stays.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(crate) setup: Option<CommandSetting>,
    /// Patterns of paths where a wrong change does lasting harm; at most 100.
    #[serde(default)]
    pub(crate) sensitive_paths: Option<Vec<String>>,
    /// Thresholds of risk, where the defaults do not suit.
    #[serde(default)]
    pub(crate) risk: Option<RiskSettings>,
    /// What every worker must know and cannot infer.
    #[serde(default)]
    pub(crate) worker_instructions: Option<String>,
    /// What every judge must know and cannot infer.
    #[serde(default)]
    pub(crate) judge_instructions: Option<String>,
}
