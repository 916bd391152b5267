//! The arguments of `configure_project`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command. The schema names the text alone, since alternatives confuse clients; a list does no harm.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a command as a string")]
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
    /// The command, run with `sh -c` in the project's root. It only checks: its exit code says whether a commit is good.
    #[schemars(with = "String")]
    pub(crate) command: CommandSetting,
    /// Whether a failure sends the issue back. Defaults to true; only a person makes a gate optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) required: Option<bool>,
    /// Its time limit. Defaults to ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
}

/// A risk threshold; what is omitted has its default.
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
    /// The size from which a change is a medium risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) medium: Option<RiskSetting>,
    /// The size from which a change is a high risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<RiskSetting>,
}

/// `configure_project`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigureProject {
    /// The commands that every change has to pass, or an empty list if nothing can be checked. At most 20.
    pub(crate) gates: Vec<GateSetting>,
    /// The command that prepares a fresh checkout for the gates, such as `npm ci`. Without it, the detected command stays.
    #[schemars(with = "Option<String>")]
    pub(crate) setup: Option<CommandSetting>,
    /// Globs of paths where a wrong change does lasting harm. At most 100.
    pub(crate) sensitive_paths: Option<Vec<String>>,
    /// Risk thresholds, if the defaults do not suit the project.
    pub(crate) risk: Option<RiskSettings>,
    /// What every worker must know and cannot infer.
    pub(crate) worker_instructions: Option<String>,
    /// What every judge must know and cannot infer.
    pub(crate) judge_instructions: Option<String>,
}
