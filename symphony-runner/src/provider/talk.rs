//! How an agent that takes part in a conversation is called.

use std::collections::BTreeMap;
use std::path::Path;

use super::invocation::{AgentCommand, AgentInvocation, Args, StdinSource};
use crate::conversation::{Opening, Protocol};

/// Puts together the call of an agent. `system_prompt` is what the conversation says to it; `None` if the agent has it from
/// its arguments or settings.
pub(super) fn call(
    invocation: &AgentInvocation,
    program: &Path,
    args: Args,
    protocol: Protocol,
    system_prompt: Option<String>,
) -> AgentCommand {
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env: BTreeMap::new(),
        files: Vec::new(),
        stdin: conversation(invocation, protocol, system_prompt),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Returns the standard input of an agent that takes part in a conversation. `system_prompt` is as in [`call`].
pub(super) fn conversation(
    invocation: &AgentInvocation,
    protocol: Protocol,
    system_prompt: Option<String>,
) -> StdinSource {
    StdinSource::Conversation(Box::new(Opening {
        protocol,
        run: invocation.run.clone(),
        role: invocation.role,
        session: invocation.session.clone(),
        folder: invocation.worktree.clone(),
        model: invocation.model.clone(),
        system_prompt,
        prompt: invocation.files.user_prompt.clone(),
        mcp_server: invocation.mcp_server.clone(),
    }))
}
