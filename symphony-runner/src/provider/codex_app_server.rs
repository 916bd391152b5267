//! The Codex CLI by its app-server protocol (`codex app-server`), measured with 0.169.0.

use std::path::Path;

use symphony_core::config::ProviderName;

use super::cli::AgentCli;
use super::codex;
use super::invocation::{AgentCommand, AgentInvocation, Args};
use super::talk::call;
use crate::conversation::Protocol;
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
    let system_prompt = Some(invocation.system_prompt.clone());
    call(
        invocation,
        program,
        args,
        Protocol::AppServer,
        system_prompt,
    )
}
