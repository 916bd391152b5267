//! The Copilot CLI (`copilot --acp`), measured with 1.0.102.

use std::path::Path;

use serde_json::json;
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;

use super::acp;
use super::api::ModelApi;
use super::cli::{AgentCli, Credentials, Variables};
use super::invocation::{AgentCommand, AgentInvocation, Args};
use super::talk::call;
use crate::conversation::{MidTurn, Protocol};
use crate::environment::RUN_MARKER;
use crate::stream::{AcpUsage, MCP_SERVER_NAME, StreamFormat};

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::Copilot,
    title: "Copilot CLI",
    program: "copilot",
    install: "npm install -g @github/copilot",
    login: "copilot login",
    credentials: Credentials {
        variables: &["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
        folder_variable: "COPILOT_HOME",
        folder: ".copilot",
        file: "config.json",
        fix: "start `copilot` and type `/login`, or set COPILOT_GITHUB_TOKEN where `symphony` runs",
    },
    sessions: None,
    api: ModelApi {
        login_hosts: &["api.githubcopilot.com", "api.github.com", "github.com"],
        ..acp::UNKNOWN_API
    },
    own_settings: None,
    variables: Variables {
        prefixes: &["COPILOT_"],
        settings: &[],
        clouds: &[],
        defaults: &[],
        is_session_marker: |_| false,
    },
    root: None,
    reads_claude_md: false,
    judges_shell: ShellTools::Given,
    format: StreamFormat::Acp(AcpUsage::Process),
    native: std::convert::identity,
    command,
    interactive: None,
};

/// Its tools that change files or run programs.
const CHANGING: [&str; 2] = ["write", "shell"];
/// Its tools that reach the web.
const WEB: [&str; 1] = ["url"];

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add([
        "--acp",
        "--stdio",
        "--no-auto-update",
        "--disable-builtin-mcps",
        "--no-custom-instructions",
        "--allow-all-tools",
        "--log-level",
        "none",
    ]);
    if let Some(model) = &invocation.model {
        args.flag("--model", model);
    }
    for tool in acp::withheld(invocation, &CHANGING, &WEB) {
        args.flag("--deny-tool", tool);
    }
    // By the protocol it takes servers on HTTP only.
    let server = &invocation.mcp_server;
    let servers = json!({ "mcpServers": { MCP_SERVER_NAME: {
        "type": "local",
        "command": server.program,
        "args": server.args(),
        "tools": ["*"],
        "env": { RUN_MARKER: invocation.run.as_str() },
    } } });
    args.flag("--additional-mcp-config", servers.to_string());
    args.add(&invocation.extra_args);
    call(
        invocation,
        program,
        args,
        Protocol::Acp(MidTurn::Waits),
        Some(invocation.system_prompt.clone()),
    )
}
