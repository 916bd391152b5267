//! Providers: how an agent's CLI is called (spec: lifecycle, "Providers").
//!
//! A provider turns an [`AgentInvocation`] (plain data) into an [`AgentCommand`] (program, arguments, environment,
//! input) and names the format of its output. Building a command is pure: the caller writes the prompt and MCP files to
//! the paths in the invocation, and `process` starts the process. Only [`detect`] accesses the disk, and only
//! [`program_version`] runs a program.
//!
//! Adding a provider: a name in `symphony_core::config::ProviderName` and its settings beside it, a variant of
//! [`ProviderCall`] with what only that provider needs, one file here with `fn command(&AgentInvocation, …) ->
//! AgentCommand`, an arm in [`agent_command()`], and (if it writes a format of its own) a parser in `stream`. The compiler
//! finds every place that is missing, except for three lists: the providers that `auto` chooses from ([`detect`]), and the
//! programs and logins that `symphony doctor` looks at (`doctor/programs.rs`, `doctor/agents.rs`).

mod agent_command;
mod claude;
mod codex;
mod command;
pub mod detect;
mod error;
mod invocation;
mod mcp_config;
mod scripted;
mod version;

pub use agent_command::agent_command;
pub use claude::{prompt_for_stdin, root_hint};
pub use error::ProviderError;
pub use invocation::{
    AgentCommand, AgentInvocation, AgentRole, McpServerCommand, ProviderCall, RunFiles, StdinSource,
};
pub use mcp_config::mcp_config;
pub use version::program_version;
