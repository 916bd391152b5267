//! Projects whose agent is a real CLI, with a home of its own and no key of anybody, in front of the scripted model.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::model::Model;
use super::project::Project;

/// A real agent's CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealCli {
    Claude,
    Codex,
    CodexAppServer,
    Opencode,
    Qwen,
    Gemini,
    Copilot,
}

impl RealCli {
    /// Returns its provider's name.
    pub(crate) const fn provider(self) -> &'static str {
        match self {
            Self::Claude => "claude-cli",
            Self::Codex => "codex-cli",
            Self::CodexAppServer => "codex-app-server",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
        }
    }

    /// Returns its program, as a variable names it.
    fn program(self) -> PathBuf {
        let variable = match self {
            Self::Claude => "SYMPHONY_TEST_CLAUDE",
            Self::Codex | Self::CodexAppServer => "SYMPHONY_TEST_CODEX",
            Self::Opencode => "SYMPHONY_TEST_OPENCODE",
            Self::Qwen => "SYMPHONY_TEST_QWEN",
            Self::Gemini => "SYMPHONY_TEST_GEMINI",
            Self::Copilot => "SYMPHONY_TEST_COPILOT",
        };
        let program = std::env::var_os(variable).unwrap_or_else(|| {
            panic!("the feature real-cli needs {variable}: the path of the CLI's program")
        });
        PathBuf::from(program)
            .canonicalize()
            .unwrap_or_else(|error| panic!("{variable} names no program: {error}"))
    }

    /// Puts a call of one of Claude's tools into the shape of its own.
    pub(crate) fn shaped(self, mut call: Value) -> Value {
        let name = call["name"].as_str().expect("a call has a name").to_owned();
        match (self, name.strip_prefix("mcp__symphony__")) {
            (Self::Codex | Self::CodexAppServer, Some(tool)) => {
                call["namespace"] = json!("mcp__symphony");
                call["name"] = json!(tool);
            }
            (Self::Opencode, Some(tool)) => call["name"] = json!(format!("symphony_{tool}")),
            (Self::Claude, _) | (Self::Qwen, Some(_)) => {}
            (Self::Codex | Self::CodexAppServer, None) => {
                call["name"] = json!("exec_command");
                call["input"] = json!({ "cmd": call["input"]["command"] });
            }
            (Self::Gemini, Some(tool)) => call["name"] = json!(format!("mcp_symphony_{tool}")),
            (Self::Copilot, Some(tool)) => call["name"] = json!(format!("symphony-{tool}")),
            (Self::Opencode | Self::Copilot, None) => {
                call["name"] = json!("bash");
                call["input"]["description"] = json!("works");
            }
            (Self::Qwen | Self::Gemini, None) => {
                call["name"] = json!("run_shell_command");
                call["input"]["description"] = json!("works");
                call["input"]["is_background"] = json!(false);
            }
        }
        call
    }

    /// Puts plays for Claude's tools into the shape of its own.
    pub(crate) fn shaped_plays(self, mut plays: Value) -> Value {
        for scenario in plays["scenarios"]
            .as_array_mut()
            .expect("there are scenarios")
        {
            if self == Self::Copilot {
                in_one_prompt(scenario);
            }
            for turn in scenario["turns"].as_array_mut().expect("there are turns") {
                turn["content"][0] = self.shaped(turn["content"][0].take());
            }
        }
        plays
    }

    /// Makes a project whose agent it is; `config` is laid over the configuration, and its `args` and `env` are the
    /// provider's own.
    pub(crate) fn project(self, scenarios: &str, config: &Value) -> (Project, Model) {
        let mut project = Project::new("my project", &json!({ "scenarios": [] }), &json!({}));
        let model = Model::start(&project, scenarios);
        let mut settings = json!({ "binary": self.program() });
        let mut args: Vec<Value> = Vec::new();
        let mut env = json!({});
        match self {
            Self::Claude => {
                project.set_variable("ANTHROPIC_BASE_URL", model.url());
                project.set_variable("ANTHROPIC_API_KEY", "no-key-of-anybody");
                project.set_variable("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                // the CLI wants it as root, and does not mind it otherwise
                project.set_variable("IS_SANDBOX", "1");
            }
            Self::Opencode => project.write_opencode_settings(model.url()),
            Self::Qwen => {
                project.set_variable("OPENAI_BASE_URL", &format!("{}/v1", model.url()));
                project.set_variable("OPENAI_API_KEY", "no-key-of-anybody");
                args = ["--auth-type", "openai", "-m", "scripted-1"]
                    .map(Value::from)
                    .to_vec();
            }
            Self::Gemini => {
                let home = project.home_elsewhere("gemini");
                project.set_variable("GEMINI_CLI_HOME", home.to_str().expect("a plain path"));
                project.set_variable("GOOGLE_GEMINI_BASE_URL", model.url());
                project.set_variable("GEMINI_API_KEY", "no-key-of-anybody");
                args = ["-m", "scripted-1"].map(Value::from).to_vec();
            }
            Self::Copilot => {
                let home = project.home_elsewhere("copilot");
                for (name, value) in [
                    ("COPILOT_HOME", home.to_str().expect("a plain path")),
                    ("COPILOT_PROVIDER_BASE_URL", &format!("{}/v1", model.url())),
                    ("COPILOT_PROVIDER_TYPE", "openai"),
                    ("COPILOT_PROVIDER_API_KEY", "no-key-of-anybody"),
                    ("COPILOT_MODEL", "scripted-1"),
                    ("COPILOT_OFFLINE", "true"),
                ] {
                    project.set_variable(name, value);
                }
            }
            Self::Codex | Self::CodexAppServer => {
                // it wants a home outside of the temporary folder
                let home = project.home_elsewhere("codex");
                project.set_variable("CODEX_HOME", home.to_str().expect("a plain path"));
                if config.get("sandbox").is_some() {
                    // a sandbox leads to what the variables name
                    project.set_variable("OPENAI_BASE_URL", &format!("{}/v1", model.url()));
                    project.set_variable("OPENAI_API_KEY", "no-key-of-anybody");
                    args = ["-c", "model=\"gpt-5-codex\""].map(Value::from).to_vec();
                } else {
                    env["SCRIPTED_KEY"] = json!("no-key-of-anybody");
                    args = codex_settings(model.url());
                }
            }
        }
        let mut whole = json!({
            "provider": self.provider(),
            // a test says itself when gates are tried on the base
            "try_changed_gates": false,
            "judge_cooldown_ms": 0,
            "keep_run_files": true,
            // the plays are written for a conversation for each run
            "resume": "never",
            "gates": [{ "name": "check", "command": "test ! -e hello.txt || { grep -q hello hello.txt && echo fine; }" }],
        });
        for (key, value) in config.as_object().expect("settings are an object") {
            match key.as_str() {
                "args" => args.extend(value.as_array().expect("arguments are a list").clone()),
                "env" => env
                    .as_object_mut()
                    .expect("made above")
                    .extend(value.as_object().expect("variables are an object").clone()),
                _ => whole[key] = value.clone(),
            }
        }
        settings["args"] = Value::Array(args);
        settings["env"] = env;
        whole["providers"] = json!({ self.provider(): settings });
        project.configure(&whole);
        (project, model)
    }
}

/// Looks for what distinguishes a scenario in the user prompt alone: an agent that keeps its own system prompt has
/// Symphony's before its task.
fn in_one_prompt(scenario: &mut Value) {
    let Some(system) = scenario["match_system"].as_str().map(str::to_owned) else {
        return;
    };
    let prompt = scenario["match_prompt"].as_str().unwrap_or_default();
    let both = format!(r"\A(?=[\s\S]*{system})(?=[\s\S]*{prompt})");
    scenario["match_prompt"] = json!(both);
    scenario
        .as_object_mut()
        .expect("a scenario is an object")
        .remove("match_system");
}

/// The arguments that put Codex in front of the model.
fn codex_settings(url: &str) -> Vec<Value> {
    let settings = [
        "model_provider=\"scripted\"".to_owned(),
        "model_providers.scripted.name=\"scripted\"".to_owned(),
        format!("model_providers.scripted.base_url=\"{url}/v1\""),
        "model_providers.scripted.wire_api=\"responses\"".to_owned(),
        "model_providers.scripted.env_key=\"SCRIPTED_KEY\"".to_owned(),
        "model_providers.scripted.supports_websockets=false".to_owned(),
        // it gives up within seconds
        "model_providers.scripted.request_max_retries=1".to_owned(),
        "model_providers.scripted.stream_max_retries=1".to_owned(),
    ];
    let model = ["-c", "model=\"gpt-5-codex\""].map(Value::from);
    model
        .into_iter()
        .chain(
            settings
                .into_iter()
                .flat_map(|setting| [json!("-c"), json!(setting)]),
        )
        .collect()
}

impl Project {
    /// Names the model in opencode's own settings, as a user would.
    fn write_opencode_settings(&mut self, url: &str) {
        let home = self.home_elsewhere("opencode");
        let folder = home.join(".config/opencode");
        std::fs::create_dir_all(&folder).unwrap();
        let settings = json!({
            "model": "scripted/scripted-1",
            "small_model": "scripted/scripted-1",
            "enabled_providers": ["scripted"],
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "scripted",
                "options": { "baseURL": format!("{url}/v1"), "apiKey": "no-key-of-anybody" },
                "models": { "scripted-1": {
                    "name": "scripted-1", "tool_call": true, "limit": { "context": 128_000, "output": 8000 },
                } },
            } },
        });
        std::fs::write(folder.join("opencode.json"), settings.to_string()).unwrap();
        self.set_variable("XDG_CONFIG_HOME", home.join(".config").to_str().unwrap());
        self.set_variable("XDG_DATA_HOME", home.join(".local/share").to_str().unwrap());
        self.set_variable("OPENCODE_DISABLE_MODELS_FETCH", "1");
    }
}
