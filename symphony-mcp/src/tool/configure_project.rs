//! `configure_project`: the wizard sets a project up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use symphony_core::issue::check_paths;
use symphony_store::{ProjectSetup, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::tool_call::ToolCall;

/// Gates of a project: each runs on every pull request.
const GATES_MAX: usize = 20;

/// A command. The schema names the text alone, since alternatives confuse clients; a list does no harm.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a command as a string")]
enum CommandSetting {
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
struct GateSetting {
    /// Its name, such as `test`.
    name: String,
    /// The command, run with `sh -c` in the project's root. It only checks: its exit code says whether a commit is good.
    #[schemars(with = "String")]
    command: CommandSetting,
    /// Whether a failure sends the issue back. Defaults to true; only a person makes a gate optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    required: Option<bool>,
    /// Its time limit. Defaults to ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

/// A risk threshold; what is omitted has its default.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RiskSetting {
    /// Changed files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    /// Changed lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
}

/// Thresholds of risk.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RiskSettings {
    /// The size from which a change is a medium risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    medium: Option<RiskSetting>,
    /// The size from which a change is a high risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<RiskSetting>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigureProject {
    /// The commands that every change has to pass, or an empty list if nothing can be checked. At most 20.
    gates: Vec<GateSetting>,
    /// The command that prepares a fresh checkout for the gates, such as `npm ci`. Without it, the detected command stays.
    #[schemars(with = "Option<String>")]
    setup: Option<CommandSetting>,
    /// Globs of paths where a wrong change does lasting harm. At most 100.
    sensitive_paths: Option<Vec<String>>,
    /// Risk thresholds, if the defaults do not suit the project.
    risk: Option<RiskSettings>,
    /// What every worker must know and cannot infer.
    worker_instructions: Option<String>,
    /// What every judge must know and cannot infer.
    judge_instructions: Option<String>,
}

impl ToolCall for ConfigureProject {
    const DESCRIPTION: &str = "Sets the project up: the gates that every change has to pass, sensitive paths, risk thresholds, and instructions \
        for its workers and judges. A refusal names everything that is wrong: correct it and call again.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let count = self.gates.len();
        if count > GATES_MAX {
            return Err(ToolError::new(format!(
                "gates has {count} items; the limit is {GATES_MAX}"
            )));
        }
        let optional = self
            .gates
            .iter()
            .position(|gate| gate.required == Some(false));
        if let Some(index) = optional.filter(|_| identity.actor.run().is_some()) {
            return Err(ToolError::new(format!(
                "gates[{index}].required is false, but only a person makes a gate optional. Omit a gate that cannot pass on this \
                 commit, and say so in the instructions"
            )));
        }
        if let Some(paths) = &self.sensitive_paths {
            check_paths("sensitive_paths", paths)?;
        }
        let names: Vec<&str> = self.gates.iter().map(|gate| gate.name.as_str()).collect();
        let gates = if names.is_empty() {
            "no gates".to_owned()
        } else {
            format!("the gates {}", names.join(", "))
        };
        let mut settings = Map::new();
        settings.insert("gates".to_owned(), json!(self.gates));
        if let Some(setup) = &self.setup {
            settings.insert("worktree".to_owned(), json!({ "setup": setup }));
        }
        if let Some(paths) = &self.sensitive_paths {
            settings.insert("sensitive_paths".to_owned(), json!(paths));
        }
        if let Some(risk) = &self.risk {
            settings.insert("risk".to_owned(), json!(risk));
        }
        let setup = ProjectSetup {
            settings: Value::Object(settings),
            worker_instructions: self.worker_instructions,
            judge_instructions: self.judge_instructions,
        };
        let project = store.configure_project(&identity.context(), &identity.project, &setup)?;
        Ok(Answer::new(format!(
            "configured {}: {gates}. Where the project's configuration file differs, the file wins",
            project.name
        ))
        .with("settings", project.settings))
    }
}
