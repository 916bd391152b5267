//! Agents that speak the Agent Client Protocol: what is common to them, and any program that the configuration names.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::config::{CommandLine, Providers};

use super::api::ModelApi;
use super::error::ProviderError;
use super::invocation::{
    AgentCommand, AgentInvocation, AgentRole, Args, ProviderCall, StdinSource,
};
use crate::conversation::{Opening, Protocol};

/// An API about which nothing is known: in a sandbox the agent uses its login, and reaches the hosts that the project
/// allows.
pub(super) const UNKNOWN_API: ModelApi = ModelApi {
    base_url_variable: None,
    base_url: "",
    keys: &[],
    headers_variable: None,
    login_hosts: &[],
    clouds: &[],
    in_sandbox: &[],
    arguments: |_| Vec::new(),
    account: &[],
    account_claim: None,
    tokens: &[],
    key_in_login: None,
};

/// Up to this size (in bytes) the system prompt is an argument. The kernel limits one argument to 128 KiB.
pub(super) const SYSTEM_PROMPT_ARG_BYTES_MAX: usize = 120 * 1024;

/// Returns what an agent is asked for. `system_prompt` is said before the task; `None` if the agent has it already.
pub(super) fn opening(invocation: &AgentInvocation, system_prompt: Option<String>) -> Opening {
    Opening {
        protocol: Protocol::Acp,
        run: invocation.run.clone(),
        role: invocation.role,
        session: invocation.session.clone(),
        folder: invocation.worktree.clone(),
        model: invocation.model.clone(),
        system_prompt,
        prompt: invocation.files.user_prompt.clone(),
        mcp_server: invocation.mcp_server.clone(),
    }
}

/// Puts together the call of an agent.
pub(super) fn call(
    invocation: &AgentInvocation,
    program: &Path,
    args: Args,
    opening: Opening,
) -> AgentCommand {
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env: BTreeMap::new(),
        files: Vec::new(),
        stdin: StdinSource::Conversation(Box::new(opening)),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Returns the call of the configured program.
pub(super) fn find(providers: &Providers) -> Result<ProviderCall, ProviderError> {
    let line = providers.acp_command.clone();
    Ok(ProviderCall::Acp {
        line: line.ok_or(ProviderError::NoAcpCommand)?,
    })
}

/// Builds the call of the configured program.
pub(super) fn command(invocation: &AgentInvocation, line: &CommandLine) -> AgentCommand {
    let (program, args) = super::command::words(line, &invocation.extra_args);
    let opening = opening(invocation, Some(invocation.system_prompt.clone()));
    call(invocation, &program, args, opening)
}

/// Returns which of an agent's tools a role may not use: those that change files and run programs for a judge, those that
/// reach the web unless the run may.
pub(super) fn withheld(
    invocation: &AgentInvocation,
    changing: &[&'static str],
    web: &[&'static str],
) -> Vec<&'static str> {
    let is_judge = invocation.role == AgentRole::Judge;
    let changing = changing.iter().filter(|_| is_judge);
    let is_denied = invocation.web == symphony_core::web::WebAccess::Denied;
    changing
        .chain(web.iter().filter(|_| is_denied))
        .copied()
        .collect()
}
