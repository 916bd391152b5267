//! The Gemini CLI (`gemini --acp`), measured with 0.61.0.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;

use super::acp;
use super::api::{ApiKey, ModelApi};
use super::cli::{AgentCli, Credentials, Variables};
use super::invocation::{AgentCommand, AgentInvocation, AgentRole, Args};
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
    let files = &invocation.files;
    let policy = policy(&acp::withheld(invocation, &CHANGING, &WEB))
        .map(|text| (files.settings.with_extension("toml"), text));
    let mut args = Args::default();
    args.add(["--acp"]);
    // Both options take all words up to the next one, so one of Symphony's has to follow them.
    if let Some((file, _)) = &policy {
        args.flag("--admin-policy", file);
    }
    if invocation.role == AgentRole::Judge {
        // The branch under review can name servers in its own settings, and each is a program that would run.
        args.flag("--allowed-mcp-server-names", "symphony");
    }
    args.add(["--approval-mode", "yolo"]);
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
        .push((files.settings.clone(), settings().to_string()));
    command.files.extend(policy);
    command
}

/// Returns a policy that takes tools away, in TOML; `None` if there are none.
///
/// The settings cannot do it: the CLI skips them unless root owns the file and each folder above it, and an agent would
/// have all its tools. A policy that is an argument is read whoever owns it, wins over the rules of the user, and leaves
/// them in force.
fn policy(withheld: &[&'static str]) -> Option<String> {
    if withheld.is_empty() {
        return None;
    }
    // a list of plain names is the same in TOML
    let names = json!(withheld);
    Some(format!(
        "[[rule]]\ntoolName = {names}\ndecision = \"deny\"\npriority = 999\n"
    ))
}

/// Returns settings that win over the user's where root owns their file, as in most containers: no updates, no reports.
/// Another name of the project's file (`context.fileName`) would not help: 0.61.0 reads `GEMINI.md` as well.
fn settings() -> Value {
    json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    })
}

#[cfg(test)]
mod tests {
    use super::{CHANGING, WEB, policy};

    #[test]
    fn a_policy_denies_each_tool_that_is_withheld() {
        let withheld = [&CHANGING[..], &WEB[..]].concat();
        let text = policy(&withheld).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let rule = &table["rule"][0];
        let names: Vec<&str> = rule["toolName"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(names, withheld);
        assert_eq!(rule["decision"].as_str(), Some("deny"));
        assert_eq!(rule["priority"].as_integer(), Some(999));
        assert_eq!(policy(&[]), None);
    }
}
