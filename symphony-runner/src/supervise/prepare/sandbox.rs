//! What confines a run's agent, and what it reaches nevertheless.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::agent::AgentType;
use symphony_core::run::ShellTools;
use symphony_workspace::{Repository, Worktree};

use super::site::Site;
use crate::environment::agent_search_path;
use crate::error::RunnerError;
use crate::paths::STATE_DIR;
use crate::process::resolve_program;
use crate::provider::{AgentCommand, ProviderCall};
use crate::sandbox::{
    Access, Places, Protection, RunSandbox, SandboxFault, home_of, object_folders, program_paths,
};
use crate::supervise::Job;

/// The name of the MCP socket inside.
const MCP_SOCKET: &str = "mcp.sock";

/// Chooses the level of a run, before anything is made for it.
///
/// # Errors
/// When the machine does not have what the configuration asks for.
pub(crate) fn protection(job: &Job<'_>) -> Result<Protection, SandboxFault> {
    let search_path = agent_search_path(&job.installation.environment, &job.config.env);
    Protection::choose(
        &job.config.sandbox,
        &job.installation.executable,
        Some(&search_path),
        &job.installation.state_dir(),
    )
}

/// Returns the path of the run's MCP socket as its agent sees it.
pub(super) fn mcp_socket(job: &Job<'_>, protection: &Protection) -> PathBuf {
    protection.socket_inside(&job.paths.socket(), MCP_SOCKET)
}

/// Returns whether a provider keeps tools that run programs from a judge.
pub(super) fn judges_shell(call: &ProviderCall) -> ShellTools {
    match call {
        ProviderCall::Cli { cli, .. } => cli.judges_shell,
        ProviderCall::Scripted { .. } => ShellTools::Withheld,
        ProviderCall::Command { .. } | ProviderCall::Acp { .. } => ShellTools::Given,
    }
}

/// Puts together what confines the agent of a run.
///
/// # Errors
/// When it works in the user's own checkout, its program is not found, or a folder that it needs cannot be made.
pub(super) fn agent_sandbox(
    job: &Job<'_>,
    protection: Protection,
    site: &Site,
    provider: &ProviderCall,
    command: &AgentCommand,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<RunSandbox, RunnerError> {
    if protection.is_on() && site.path() == site.repository.root() {
        return Err(SandboxFault::InProject.into());
    }
    let places = places(job, &protection, site, provider, command, environment)?;
    Ok(RunSandbox::new(
        protection,
        job.config.sandbox.clone(),
        places,
        job.paths.dir.clone(),
    ))
}

/// Puts together what confines a configured command in the worktree of a run. It has no socket.
///
/// # Errors
/// When the machine does not have what the configuration asks for.
pub(super) fn command_sandbox(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<RunSandbox, RunnerError> {
    let common = repository.common_dir();
    let places = Places {
        checkout: worktree.path().to_owned(),
        seen_at: None,
        access: Access::Write,
        read: object_folders(common),
        write: modules(worktree).into_iter().collect(),
        sockets: Vec::new(),
        closed: closed(job, common),
        home: home_of(environment.get(OsStr::new("HOME")).map(OsString::as_os_str)),
        ways: None,
    };
    Ok(RunSandbox::new(
        protection(job)?,
        job.config.sandbox.clone(),
        places,
        job.paths.dir.clone(),
    ))
}

/// Returns what no path of the configuration may open.
fn closed(job: &Job<'_>, common: &Path) -> Vec<PathBuf> {
    vec![
        job.installation.state_dir(),
        job.project.root.join(STATE_DIR),
        common.to_owned(),
    ]
}

fn places(
    job: &Job<'_>,
    protection: &Protection,
    site: &Site,
    provider: &ProviderCall,
    command: &AgentCommand,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Places, RunnerError> {
    let variable = |name: &str| environment.get(OsStr::new(name)).map(OsString::as_os_str);
    let home = home_of(variable("HOME"));
    let common = site.repository.common_dir();
    let closed = closed(job, common);
    let mut read = object_folders(common);
    read.extend([
        job.paths.system_prompt(),
        job.paths.user_prompt(),
        job.paths.mcp_config(),
        job.paths.diff(),
    ]);
    read.extend(command.files.iter().map(|(path, _)| path.clone()));
    let mut write = Vec::new();
    if let ProviderCall::Scripted {
        scenario,
        state_dir,
        ..
    } = provider
    {
        read.push(scenario.clone());
        write.push(state_dir.clone());
    }
    if protection.is_on() {
        let program = resolve_program(&command.program, variable("PATH"), &command.cwd)?;
        let keep_closed: Vec<PathBuf> = closed.iter().chain(&home).cloned().collect();
        read.extend(program_paths(&program, &keep_closed));
        for folder in &write {
            std::fs::create_dir_all(folder)
                .map_err(|error| RunnerError::io("make the folder", folder, error))?;
        }
    }
    let access = if job.run.agent == AgentType::Judge {
        Access::Read
    } else {
        write.extend(modules(&site.worktree));
        Access::Write
    };
    Ok(Places {
        checkout: site.path().to_owned(),
        seen_at: None,
        access,
        read,
        write,
        sockets: vec![(job.paths.socket(), MCP_SOCKET.to_owned())],
        closed,
        home,
        ways: None,
    })
}

/// Returns the folder of the repositories of a worktree's submodules. An agent that works in them commits there.
fn modules(worktree: &Worktree) -> Option<PathBuf> {
    let folder = worktree.place().git_dir.join("modules");
    folder.is_dir().then_some(folder)
}
