//! Why no provider can be called.

use std::path::PathBuf;

use symphony_core::failure::ErrorClass;

/// Why no provider can be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider is `auto`, and no agent CLI is installed.
    #[error(
        "find an agent CLI: neither `claude` nor `codex` is in PATH; install Claude Code \
         (`npm install -g @anthropic-ai/claude-code`) or Codex (`npm install -g @openai/codex`), \
         or see everything at work without one: `symphony demo`"
    )]
    NothingInstalled,
    /// The named provider's program is not there.
    #[error(
        "find the program of provider `{provider}`: `{}` is not {}; {hint}",
        program.display(),
        if program.components().count() > 1 { "an executable file" } else { "in PATH" },
    )]
    ProgramMissing {
        /// The provider's name.
        provider: &'static str,
        /// The program that was looked for.
        program: PathBuf,
        /// What to do about it.
        hint: &'static str,
    },
    /// The provider `command` is chosen, and no command is configured.
    #[error("call provider `command`: `providers.command.command` is not set")]
    NoCommand,
    /// The provider `scripted` is chosen, and no scenario is configured.
    #[error("call provider `scripted`: `providers.scripted.scenario` is not set")]
    NoScenario,
    /// The provider's program refuses to run as it would be run.
    #[error("run provider `{provider}`: {hint}")]
    Refuses {
        /// The provider's name.
        provider: &'static str,
        /// Why, and what to do about it.
        hint: &'static str,
    },
}

impl ProviderError {
    /// Returns the error class of a run that cannot start for it: a missing provider is a global condition.
    pub const fn class(&self) -> ErrorClass {
        ErrorClass::ProviderMissing
    }
}
