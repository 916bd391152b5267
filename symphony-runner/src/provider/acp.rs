//! Agents that speak the Agent Client Protocol: what is common to them, and any program that the configuration names.

use symphony_core::config::{AcpName, CommandLine, NamedProvider, ProviderName, Providers};

use super::api::ModelApi;
use super::command::MODEL;
use super::error::ProviderError;
use super::invocation::{AgentCommand, AgentInvocation, AgentRole, ProviderCall};
use super::talk::call;
use crate::conversation::{MidTurn, Protocol};

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

/// Returns the call of the configured program that is named, or of the one that is meant without a name.
pub(super) fn find(
    named: Option<&AcpName>,
    providers: &Providers,
) -> Result<ProviderCall, ProviderError> {
    let (name, line) =
        providers
            .acp_program(named)
            .map_err(|problem| ProviderError::NoAcpProgram {
                provider: named
                    .cloned()
                    .map_or(ProviderName::Acp.into(), NamedProvider::Acp),
                problem,
            })?;
    Ok(ProviderCall::Acp {
        name: name.clone(),
        line: line.clone(),
    })
}

/// Builds the call of the configured program.
pub(super) fn command(invocation: &AgentInvocation, line: &CommandLine) -> AgentCommand {
    let (program, args) = super::command::words(line, &invocation.extra_args);
    let system_prompt = Some(invocation.system_prompt.clone());
    let mut command = call(
        invocation,
        &program,
        args,
        Protocol::Acp(MidTurn::Waits),
        system_prompt,
    );
    // The protocol has no stable way to choose a model.
    if let Some(model) = &invocation.model {
        command.env.insert(MODEL.to_owned(), model.clone());
    }
    command
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
