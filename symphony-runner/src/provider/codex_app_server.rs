//! The Codex CLI by its app-server protocol (`codex app-server`), measured with 0.169.0.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::config::ProviderName;

use super::cli::AgentCli;
use super::codex;
use super::invocation::{AgentCommand, AgentInvocation, Args, StdinSource};
use crate::conversation::{Opening, Protocol};
use crate::stream::StreamFormat;

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::CodexAppServer,
    format: StreamFormat::AppServer,
    // a conversation always begins a new thread
    command,
    ..codex::KNOWN
};

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["app-server"]);
    for (key, value) in codex::common_settings(invocation) {
        args.flag("-c", format!("{key}={value}"));
    }
    args.add(&invocation.extra_args);
    let opening = Opening {
        protocol: Protocol::AppServer,
        run: invocation.run.clone(),
        role: invocation.role,
        session: invocation.session.clone(),
        folder: invocation.worktree.clone(),
        model: invocation.model.clone(),
        system_prompt: Some(invocation.system_prompt.clone()),
        prompt: invocation.files.user_prompt.clone(),
        mcp_server: invocation.mcp_server.clone(),
    };
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
