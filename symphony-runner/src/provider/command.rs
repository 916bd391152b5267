//! Any program: its environment names the files of the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use symphony_core::config::{CommandLine, Providers};

use super::error::ProviderError;
use super::invocation::{AgentCommand, AgentInvocation, Args, ProviderCall, StdinSource};

/// The variable by which a user's own program learns which model to use.
pub(super) const MODEL: &str = "SYMPHONY_MODEL";

/// Returns the call of the configured command.
pub(super) fn find(providers: &Providers) -> Result<ProviderCall, ProviderError> {
    Ok(ProviderCall::Command {
        line: providers
            .command_line
            .clone()
            .ok_or(ProviderError::NoCommand)?,
        output: providers.command_output,
    })
}

/// Builds the call. The user prompt also comes on stdin, so that a filter-like program needs no variable.
pub(super) fn command(invocation: &AgentInvocation, line: &CommandLine) -> AgentCommand {
    let (program, args) = words(line, &invocation.extra_args);
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let files = &invocation.files;
    let mut env = BTreeMap::from([
        (
            "SYMPHONY_SYSTEM_PROMPT".to_owned(),
            path(&files.system_prompt),
        ),
        ("SYMPHONY_USER_PROMPT".to_owned(), path(&files.user_prompt)),
        ("SYMPHONY_MCP_CONFIG".to_owned(), path(&files.mcp_config)),
    ]);
    if let Some(model) = &invocation.model {
        env.insert(MODEL.to_owned(), model.clone());
    }
    AgentCommand {
        program,
        args: args.0,
        env,
        files: Vec::new(),
        stdin: StdinSource::File(files.user_prompt.clone()),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Returns the program of a command, and its arguments with those of the configuration.
pub(super) fn words(line: &CommandLine, extra_args: &[String]) -> (PathBuf, Args) {
    let mut words = line.to_argv().into_iter();
    let program = words.next().unwrap_or_default();
    let mut args = Args::default();
    args.add(words);
    if matches!(line, CommandLine::Shell(_)) && !extra_args.is_empty() {
        // The first word behind `sh -c TEXT` is the shell's name, the others are its `"$@"`.
        args.add(["sh"]);
    }
    args.add(extra_args);
    (program.into(), args)
}
