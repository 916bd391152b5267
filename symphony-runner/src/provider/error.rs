//! Why no provider can be called.

use std::path::PathBuf;

use symphony_core::config::{AcpProblem, NamedProvider, ProviderName};
use symphony_core::failure::ErrorClass;
use symphony_core::wording::{any_of, none_is};

use super::agent_clis;
use super::cli::AgentCli;

/// Why no provider can be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider is `auto`, and no agent CLI is installed.
    #[error(
        "{} in PATH; install {}, or try Symphony without one: `symphony demo`",
        none_is(&of_each(|cli| format!("`{}`", cli.program))),
        any_of(&of_each(|cli| format!("{} (`{}`)", cli.title, cli.install))),
    )]
    NothingInstalled,
    /// The program of the named provider is missing.
    #[error(
        "provider `{name}` needs `{}`, which is not {}; install it (`{}`) or set `providers.{name}.binary`",
        program.display(),
        if program.components().count() > 1 { "an executable file" } else { "in PATH" },
        cli.install,
        name = cli.name,
    )]
    ProgramMissing {
        /// The provider.
        cli: &'static AgentCli,
        /// The program that was looked for.
        program: PathBuf,
    },
    /// The provider `command` is chosen, and no command is configured.
    #[error("provider `command` needs `providers.command.command`, which is not set")]
    NoCommand,
    /// The provider `acp` or one of its programs is chosen, and it is not configured, or not clear which one is meant.
    #[error("provider `{provider}` cannot start: {problem}")]
    NoAcpProgram {
        /// The provider.
        provider: NamedProvider,
        /// What is wrong.
        problem: AcpProblem,
    },
    /// The provider `scripted` is chosen, and no scenario is configured.
    #[error("provider `scripted` needs `providers.scripted.scenario`, which is not set")]
    NoScenario,
    /// The provider `scripted` is chosen, and it cannot use its scenario file.
    #[error(
        "provider `scripted` cannot play the scenario file {}: {problem}",
        path.display()
    )]
    BadScenario {
        /// The file that is configured.
        path: PathBuf,
        /// What is wrong with it, with line and column if they are known.
        problem: String,
    },
    /// The provider's program would refuse to run.
    #[error("provider `{provider}` does not start: {hint}")]
    Refuses {
        /// The provider.
        provider: ProviderName,
        /// Why, and what to do about it.
        hint: &'static str,
    },
}

impl ProviderError {
    /// Returns the error class of a run that cannot start because of this: a missing provider is a global condition.
    pub const fn class(&self) -> ErrorClass {
        ErrorClass::ProviderMissing
    }
}

/// Returns a text for each program; two providers may call the same one.
fn of_each(text: fn(&AgentCli) -> String) -> Vec<String> {
    let mut texts: Vec<String> = agent_clis().map(text).collect();
    texts.dedup();
    texts
}
