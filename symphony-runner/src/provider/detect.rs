//! Finds the agents' programs on this machine.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use symphony_core::config::{NamedProvider, ProviderChoice, Providers};

use super::error::ProviderError;
use super::invocation::ProviderCall;
use super::{AgentCli, Kind, acp, agent_clis, command, kind, scripted};

/// Where Symphony's own parts of a call are.
#[derive(Debug, Clone, Copy)]
pub struct Installation<'a> {
    /// Symphony's own executable.
    pub symphony: &'a Path,
    /// Where the scripted agent counts the uses of its scenarios.
    pub scripted_state_dir: &'a Path,
    /// The agent's `PATH`.
    pub search_path: &'a OsStr,
}

/// Chooses the provider and finds its program.
///
/// `auto` uses the first agent's CLI that is found. If none is, and the configuration names the program of one, the error
/// is about that program.
///
/// # Errors
/// When the program is not installed, or what the provider needs is not configured; the text says what to do.
pub fn find_provider(
    choice: &ProviderChoice,
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    if let Some(name) = choice.named() {
        return find_named(name, providers, installation);
    }
    let mut missing = None;
    for cli in agent_clis() {
        match find_cli(cli, providers, installation) {
            Ok(call) => return Ok(call),
            // Whoever configured this program wants to hear about it.
            Err(error) if providers.settings(cli.name).binary.is_some() => {
                missing.get_or_insert(error);
            }
            Err(_) => {}
        }
    }
    Err(missing.unwrap_or(ProviderError::NothingInstalled))
}

fn find_named(
    name: &NamedProvider,
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    match kind(name.provider()) {
        Kind::Cli(cli) => find_cli(cli, providers, installation),
        Kind::Command => command::find(providers),
        Kind::Acp => acp::find(name.program(), providers),
        Kind::Scripted => scripted::find(providers, installation),
    }
}

fn find_cli(
    cli: &'static AgentCli,
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    let configured = providers.settings(cli.name).binary.as_deref();
    match cli.find(configured, installation.search_path) {
        Some(program) => Ok(ProviderCall::Cli { cli, program }),
        None => Err(ProviderError::ProgramMissing {
            cli,
            program: configured.unwrap_or(Path::new(cli.program)).to_owned(),
        }),
    }
}

/// Finds a program: a bare name in the search path, a path with a slash as it is.
pub fn find_program(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return is_executable(program).then(|| program.to_owned());
    }
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| is_executable(candidate))
}

pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
