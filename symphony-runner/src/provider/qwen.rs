//! Qwen Code (`qwen --acp`), measured with 0.24.4.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;
use symphony_core::session::SessionForm;

use super::acp;
use super::api::{ApiKey, ModelApi};
use super::cli::{AgentCli, Credentials, Sessions, Variables};
use super::invocation::{AgentCommand, AgentInvocation, Args};
use super::own_settings::{OwnSettings, SettingsForm};
use super::talk::call;
use crate::conversation::{MidTurn, Protocol};
use crate::stream::{AcpUsage, StreamFormat};

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::Qwen,
    title: "Qwen Code",
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code@latest",
    login: "qwen auth",
    credentials: Credentials {
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        folder_variable: "QWEN_HOME",
        folder: ".qwen",
        file: "oauth_creds.json",
        fix: "start `qwen` and type `/auth`, or set OPENAI_API_KEY and OPENAI_BASE_URL where `symphony` runs",
    },
    sessions: Some(Sessions {
        form: SessionForm::Uuid,
        folder: Some("projects"),
    }),
    api: ModelApi {
        base_url_variable: Some("OPENAI_BASE_URL"),
        base_url: "https://api.openai.com/v1",
        keys: &[ApiKey {
            variable: "OPENAI_API_KEY",
            header: "authorization",
            scheme: "Bearer ",
        }],
        login_hosts: &["chat.qwen.ai", "portal.qwen.ai"],
        ..acp::UNKNOWN_API
    },
    own_settings: Some(OwnSettings {
        folder_variable: "QWEN_HOME",
        folder: ".qwen",
        files: &["settings.json"],
        file_variable: None,
        inside: ".qwen/settings.json",
        kept: &["/security/auth/selectedType", "/model", "/modelProviders"],
        form: SettingsForm::Addresses,
        removed: &[],
    }),
    variables: Variables {
        prefixes: &["QWEN_", "DASHSCOPE_", "OPENAI_"],
        settings: &[],
        clouds: &[],
        defaults: &[],
        is_session_marker: |name| {
            name.starts_with("QWEN_CODE_CLI") || name.starts_with("QWEN_CODE_LAUNCHER")
        },
    },
    root: None,
    reads_claude_md: false,
    judges_shell: ShellTools::Given,
    format: StreamFormat::Acp(AcpUsage::EachRequest),
    native: std::convert::identity,
    command,
    interactive: None,
};

/// Its tools that change files or run programs.
const CHANGING: [&str; 4] = ["edit", "write_file", "run_shell_command", "agent"];
/// Its tools that reach the web.
const WEB: [&str; 2] = ["web_fetch", "web_search"];

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["--acp", "--approval-mode", "yolo"]);
    if let Some(model) = &invocation.model {
        args.flag("-m", model);
    }
    let system_prompt = &invocation.system_prompt;
    let said = if system_prompt.len() <= acp::SYSTEM_PROMPT_ARG_BYTES_MAX {
        args.flag("--system-prompt", system_prompt);
        None
    } else {
        Some(system_prompt.clone())
    };
    args.add(&invocation.extra_args);
    let mut command = call(
        invocation,
        program,
        args,
        Protocol::Acp(MidTurn::Asks),
        said,
    );
    let file = invocation.files.settings.clone();
    let own = [
        // Without it, the first request is sent before the server is up.
        ("QWEN_CODE_LEGACY_MCP_BLOCKING", "1".to_owned()),
        ("QWEN_CODE_NO_RELAUNCH", "1".to_owned()),
        ("QWEN_CODE_SYSTEM_SETTINGS_PATH", file.display().to_string()),
    ];
    command
        .env
        .extend(own.map(|(name, value)| (name.to_owned(), value)));
    command.files.push((file, settings(invocation).to_string()));
    command
}

/// Returns settings that win over the user's: no updates, no reports, no memory, no files of the project.
fn settings(invocation: &AgentInvocation) -> Value {
    json!({
        "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "ui": { "enableFollowupSuggestions": false },
        "context": { "fileName": ["no file of the project"] },
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        "tools": { "toolSearch": { "enabled": false } },
        "permissions": { "deny": acp::withheld(invocation, &CHANGING, &WEB) },
    })
}
