//! The command that a provider needs for an invocation.

use super::invocation::{AgentCommand, AgentInvocation, ProviderCall};
use super::{claude, codex, command, scripted};

/// Turns an invocation into the command that its provider needs.
pub fn agent_command(invocation: &AgentInvocation) -> AgentCommand {
    let mut command = match &invocation.call {
        ProviderCall::ClaudeCli { program } => claude::command(invocation, program),
        ProviderCall::CodexCli { program } => codex::command(invocation, program),
        ProviderCall::Command { line, .. } => command::command(invocation, line),
        ProviderCall::Scripted {
            program,
            scenario,
            state_dir,
        } => scripted::command(invocation, program, scenario, state_dir),
    };
    command.env.extend(invocation.extra_env.clone());
    command
}
