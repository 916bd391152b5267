//! The Gemini CLI (`gemini --acp`), measured with 0.61.0.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;

use super::acp;
use super::api::{ApiKey, ModelApi};
use super::cli::{AgentCli, Credentials, Variables};
use super::invocation::{AgentCommand, AgentInvocation, Args};
use super::own_settings::{OwnSettings, SettingsForm};
use super::talk::call;
use crate::conversation::{MidTurn, Protocol};
use crate::stream::{AcpUsage, StreamFormat};

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::Gemini,
    title: "Gemini CLI",
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    login: "gemini",
    credentials: Credentials {
        variables: &["GEMINI_API_KEY"],
        folder_variable: "GEMINI_CLI_HOME",
        folder: ".gemini",
        file: "oauth_creds.json",
        fix: "start `gemini` and choose a login, or set GEMINI_API_KEY where `symphony` runs",
    },
    sessions: None,
    api: ModelApi {
        base_url_variable: Some("GOOGLE_GEMINI_BASE_URL"),
        base_url: "https://generativelanguage.googleapis.com",
        keys: &[ApiKey {
            variable: "GEMINI_API_KEY",
            header: "x-goog-api-key",
            scheme: "",
        }],
        login_hosts: &["cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
        ..acp::UNKNOWN_API
    },
    own_settings: Some(OwnSettings {
        folder_variable: "GEMINI_CLI_HOME",
        folder: ".gemini",
        files: &["settings.json"],
        file_variable: None,
        inside: ".gemini/settings.json",
        kept: &["/security/auth/selectedType", "/model"],
        form: SettingsForm::Addresses,
        removed: &[],
    }),
    variables: Variables {
        prefixes: &["GEMINI_", "GOOGLE_GEMINI_"],
        settings: &[],
        clouds: &[],
        defaults: &[],
        is_session_marker: |name| name == "GEMINI_CLI",
    },
    root: None,
    reads_claude_md: false,
    judges_shell: ShellTools::Given,
    format: StreamFormat::Acp(AcpUsage::Turn),
    native: std::convert::identity,
    command,
    interactive: None,
};

/// Its tools that change files or run programs.
const CHANGING: [&str; 3] = ["replace", "write_file", "run_shell_command"];
/// Its tools that reach the web.
const WEB: [&str; 2] = ["web_fetch", "google_web_search"];

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["--acp", "--approval-mode", "yolo"]);
    if let Some(model) = &invocation.model {
        args.flag("-m", model);
    }
    args.add(&invocation.extra_args);
    let mut command = call(
        invocation,
        program,
        args,
        Protocol::Acp(MidTurn::Waits),
        None,
    );
    let path = |path: &Path| path.display().to_string();
    let files = &invocation.files;
    let own = [
        ("GEMINI_SYSTEM_MD", path(&files.system_prompt)),
        ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", path(&files.settings)),
    ];
    command
        .env
        .extend(own.map(|(name, value)| (name.to_owned(), value)));
    command
        .files
        .push((files.settings.clone(), settings(invocation).to_string()));
    command
}

/// Returns settings that win over the user's: no updates, no reports, no files of the project.
fn settings(invocation: &AgentInvocation) -> Value {
    json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "context": { "fileName": ["no file of the project"] },
        "tools": { "exclude": acp::withheld(invocation, &CHANGING, &WEB) },
    })
}
