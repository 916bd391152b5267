//! Providers: how an agent's CLI is called (spec: lifecycle, "Providers").
//!
//! A provider turns an [`AgentInvocation`] (plain data) into an [`AgentCommand`] (program, arguments, environment,
//! input) and names the format of its output. Building a command is pure: the caller writes the prompt and MCP files to
//! the paths in the invocation, and `process` starts the process. Only the search for a provider ([`detect`]) accesses the
//! disk, and only [`program_version`] runs a program.
//!
//! Everything that Symphony knows about the CLI of an agent is the [`AgentCli`] in its own file. This module has the
//! only list of them; CONTRIBUTING.md says how to add one.

mod acp;
pub(crate) mod api;
mod claude;
mod cli;
mod codex;
mod codex_app_server;
mod command;
mod copilot;
pub mod detect;
mod error;
mod gemini;
mod invocation;
mod mcp_config;
mod opencode;
pub(crate) mod own_settings;
mod qwen;
mod scripted;
mod talk;
mod version;

use symphony_core::config::{NamedProvider, ProviderName};

pub use crate::conversation::{Opening, Protocol};
pub use api::{ApiKey, CloudApi, ModelApi};
pub use claude::prompt_for_stdin;
pub use cli::{AgentCli, AnswersFile, Credentials, Interactive, RootRefusal, Sessions, Variables};
pub use error::ProviderError;
pub use invocation::{
    AgentCommand, AgentInvocation, AgentRole, McpServerCommand, ProviderCall, RunFiles, Session,
    StdinSource,
};
pub use mcp_config::mcp_config;
pub use own_settings::{OwnSettings, SettingsForm};
pub use version::program_version;

/// What a provider is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The CLI of an agent.
    Cli(&'static AgentCli),
    /// Any program.
    Command,
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// The built-in offline agent.
    Scripted,
}

fn kind(name: ProviderName) -> Kind {
    match name {
        ProviderName::ClaudeCli => Kind::Cli(&claude::CLI),
        ProviderName::CodexCli => Kind::Cli(&codex::CLI),
        ProviderName::CodexAppServer => Kind::Cli(&codex_app_server::CLI),
        ProviderName::Opencode => Kind::Cli(&opencode::CLI),
        ProviderName::Qwen => Kind::Cli(&qwen::CLI),
        ProviderName::Gemini => Kind::Cli(&gemini::CLI),
        ProviderName::Copilot => Kind::Cli(&copilot::CLI),
        ProviderName::Acp => Kind::Acp,
        ProviderName::Command => Kind::Command,
        ProviderName::Scripted => Kind::Scripted,
    }
}

/// Returns what Symphony knows about the provider's CLI; `None` if the provider is not the CLI of an agent.
pub fn agent_cli(name: ProviderName) -> Option<&'static AgentCli> {
    match kind(name) {
        Kind::Cli(cli) => Some(cli),
        Kind::Command | Kind::Acp | Kind::Scripted => None,
    }
}

/// Returns the CLIs of agents, in the order in which `auto` tries them.
pub fn agent_clis() -> impl Iterator<Item = &'static AgentCli> {
    ProviderName::ALL.iter().filter_map(|name| agent_cli(*name))
}

/// Returns whether a provider adds the project's CLAUDE.md to an author's prompt by itself.
pub fn reads_claude_md(name: ProviderName) -> bool {
    agent_cli(name).is_some_and(|cli| cli.reads_claude_md)
}

/// Returns the command that logs in the program of a provider with this name; `None` if Symphony does not know the
/// program.
pub fn login_command(name: &str) -> Option<&'static str> {
    let name = NamedProvider::parse(name).ok()?;
    Some(agent_cli(name.provider())?.login)
}

/// Returns how a person works with a provider in a terminal; `None` if Symphony cannot open that.
pub const fn interactive_mode(call: &ProviderCall) -> Option<Interactive> {
    match call {
        ProviderCall::Cli { cli, .. } => cli.interactive,
        ProviderCall::Command { .. } | ProviderCall::Acp { .. } | ProviderCall::Scripted { .. } => {
            None
        }
    }
}

/// Turns an invocation into the command that opens its session in a terminal; `None` if its provider has no such mode.
pub fn session_command(invocation: &AgentInvocation) -> Option<AgentCommand> {
    let ProviderCall::Cli { cli, program } = &invocation.call else {
        return None;
    };
    let mut command = (cli.interactive?.command)(invocation, program);
    command.env.extend(invocation.extra_env.clone());
    Some(command)
}

/// Turns an invocation into the command that its provider needs.
pub fn agent_command(invocation: &AgentInvocation) -> AgentCommand {
    let mut command = match &invocation.call {
        ProviderCall::Cli { cli, program } => (cli.command)(invocation, program),
        ProviderCall::Command { line, .. } => command::command(invocation, line),
        ProviderCall::Acp { line, .. } => acp::command(invocation, line),
        ProviderCall::Scripted {
            program,
            scenario,
            state_dir,
        } => scripted::command(invocation, program, scenario, state_dir),
    };
    command.env.extend(invocation.extra_env.clone());
    command
}
