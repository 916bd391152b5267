//! The built-in offline agent: Symphony's own executable, as a separate process.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::config::{Providers, without_dots};
use symphony_scripted::{ScriptedOptions, check_scenario};

use super::detect::Installation;
use super::error::ProviderError;
use super::invocation::{
    AgentCommand, AgentInvocation, AgentRole, Args, ProviderCall, StdinSource,
};

/// The hidden command that runs the scripted agent.
const COMMAND: &str = "scripted-agent";

/// Returns the call that plays the configured scenario.
pub(super) fn find(
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    let scenario = providers
        .scenario
        .clone()
        .ok_or(ProviderError::NoScenario)?;
    if let Err(problem) = check_scenario(&scenario) {
        return Err(ProviderError::BadScenario {
            path: without_dots(&scenario),
            problem,
        });
    }
    Ok(ProviderCall::Scripted {
        program: installation.symphony.to_owned(),
        scenario,
        state_dir: installation.scripted_state_dir.to_owned(),
    })
}

pub(super) fn command(
    invocation: &AgentInvocation,
    program: &Path,
    scenario: &Path,
    state_dir: &Path,
) -> AgentCommand {
    let options = ScriptedOptions {
        scenario: scenario.to_owned(),
        system_prompt: Some(invocation.files.system_prompt.clone()),
        user_prompt: Some(invocation.files.user_prompt.clone()),
        mcp_config: Some(invocation.files.mcp_config.clone()),
        state_dir: Some(state_dir.to_owned()),
        model: invocation.model.clone(),
        turns_max: invocation.turns_max,
        // What the Claude CLI's judge may do, as far as the scripted agent has such tools.
        tools: (invocation.role == AgentRole::Judge).then(|| vec!["Read".to_owned()]),
    };
    let mut args = Args::default();
    args.add([COMMAND]);
    args.add(options.to_args());
    args.add(&invocation.extra_args);
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env: BTreeMap::new(),
        files: Vec::new(),
        stdin: StdinSource::Null,
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}
