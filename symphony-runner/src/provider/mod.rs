//! Providers: how an agent's CLI is called (spec: lifecycle, "Providers").
//!
//! A provider turns an [`AgentInvocation`] (plain data) into an [`AgentCommand`] (program, arguments, environment, input)
//! and names the format of its output. Building a command is pure: the prompt and MCP files are written by whoever calls,
//! to the paths in the invocation, and the process is started by `process`. Only [`detect`] looks at the disk, and
//! [`program_version`] asks a program.
//!
//! Adding a provider: a name in `symphony_core::config::ProviderName`, a variant of [`ProviderCall`] with what only that
//! provider needs, one file here with `fn command(&AgentInvocation, …) -> AgentCommand`, an arm in [`agent_command`], and
//! (when it writes a format of its own) a parser in `stream`. The compiler finds every place that is left out.

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
