//! Finds the agents' programs on this machine: the only part of the providers that accesses the disk.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use symphony_core::config::{ProviderChoice, ProviderName, Providers, without_dots};

use super::error::ProviderError;
use super::invocation::ProviderCall;
use symphony_scripted::check_scenario;

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
/// `auto` uses the Claude CLI if it is found, else Codex. If neither is, and the configuration names the program of
/// one, the error is about that program.
///
/// # Errors
/// When the program is not installed, or what the provider needs is not configured; the text says what to do.
pub fn find_provider(
    choice: ProviderChoice,
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    if let Some(name) = choice.named() {
        return find_named(name, providers, installation);
    }
    let mut missing = None;
    for name in [ProviderName::ClaudeCli, ProviderName::CodexCli] {
        match find_named(name, providers, installation) {
            Ok(call) => return Ok(call),
            // Whoever configured this program wants to hear about it.
            Err(error) if providers.settings(name).binary.is_some() => {
                missing.get_or_insert(error);
            }
            Err(_) => {}
        }
    }
    Err(missing.unwrap_or(ProviderError::NothingInstalled))
}

fn find_named(
    name: ProviderName,
    providers: &Providers,
    installation: &Installation<'_>,
) -> Result<ProviderCall, ProviderError> {
    let found = |default: &str, hint| {
        let program = providers
            .settings(name)
            .binary
            .clone()
            .unwrap_or_else(|| default.into());
        find_program(&program, installation.search_path).ok_or(ProviderError::ProgramMissing {
            provider: name.name(),
            program,
            hint,
        })
    };
    match name {
        ProviderName::ClaudeCli => {
            let program = found(
                "claude",
                "install it (`npm install -g @anthropic-ai/claude-code`) or set \
                 `providers.claude-cli.binary`",
            )?;
            Ok(ProviderCall::ClaudeCli { program })
        }
        ProviderName::CodexCli => {
            let program = found(
                "codex",
                "install it (`npm install -g @openai/codex`) or set `providers.codex-cli.binary`",
            )?;
            Ok(ProviderCall::CodexCli {
                program: native_codex(&program),
            })
        }
        ProviderName::Command => Ok(ProviderCall::Command {
            line: providers
                .command_line
                .clone()
                .ok_or(ProviderError::NoCommand)?,
            output: providers.command_output,
        }),
        ProviderName::Scripted => {
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

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the native binary behind npm's wrapper of Codex, or the program itself.
///
/// A SIGKILL of the wrapper would leave the native process running; started directly, there is no wrapper.
pub fn native_codex(program: &Path) -> PathBuf {
    let Ok(wrapper) = program.canonicalize() else {
        return program.to_owned();
    };
    let Some(package) = wrapper
        .extension()
        .filter(|extension| *extension == "js")
        .and_then(|_| wrapper.parent())
        .and_then(Path::parent)
    else {
        return program.to_owned();
    };
    let (platform, triple) = if cfg!(target_arch = "aarch64") {
        ("codex-linux-arm64", "aarch64-unknown-linux-musl")
    } else {
        ("codex-linux-x64", "x86_64-unknown-linux-musl")
    };
    let binary = Path::new("vendor").join(triple).join("bin/codex");
    let nested = package.join("node_modules/@openai").join(platform);
    let beside = package.parent().map(|scope| scope.join(platform));
    [Some(nested), beside, Some(package.to_owned())]
        .into_iter()
        .flatten()
        .map(|root| root.join(&binary))
        .find(|candidate| is_executable(candidate))
        .unwrap_or_else(|| program.to_owned())
}
