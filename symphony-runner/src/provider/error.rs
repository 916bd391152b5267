//! Why no provider can be called.

use std::path::PathBuf;

use symphony_core::failure::ErrorClass;

/// Why no provider can be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider is `auto`, and no agent CLI is installed.
    #[error(
        "neither `claude` nor `codex` is in PATH; install Claude Code \
         (`npm install -g @anthropic-ai/claude-code`) or Codex (`npm install -g @openai/codex`), \
         or try Symphony without one: `symphony demo`"
    )]
    NothingInstalled,
    /// The named provider's program is missing.
    #[error(
        "provider `{provider}` needs `{}`, which is not {}; {hint}",
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
    #[error("provider `command` needs `providers.command.command`, which is not set")]
    NoCommand,
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
        /// The provider's name.
        provider: &'static str,
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
