//! Why a program could not be confined.

use std::io;
use std::path::PathBuf;

use symphony_core::config::SandboxSetting;
use symphony_sandbox::{LayoutError, Unavailable};

use crate::network::NetworkError;

/// Why a program could not be confined. It then does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxFault {
    /// The machine does not have what the level needs.
    #[error("`sandbox.level` is `{setting}`, which this machine does not support: {reason}")]
    Unavailable {
        /// What was asked for.
        setting: SandboxSetting,
        /// What is missing.
        reason: Unavailable,
    },
    /// What the machine has could not be found out.
    #[error("cannot find out how this machine can confine agents: {0}")]
    Probe(io::Error),
    /// A path of the configuration would open what a sandbox must keep closed.
    #[error(
        "`{key}` has {}, which would show agents {}", path.display(), protected.display()
    )]
    Opens {
        /// The key.
        key: &'static str,
        /// The path there.
        path: PathBuf,
        /// What it would open.
        protected: PathBuf,
    },
    /// A folder that a program needs would open what a sandbox must keep closed.
    #[error(
        "the sandbox needs {}, which would show agents {}", path.display(), protected.display()
    )]
    Covers {
        /// The folder.
        path: PathBuf,
        /// What it would open.
        protected: PathBuf,
    },
    /// The program works in the user's own checkout, which no sandbox protects.
    #[error(
        "a plan with isolation `none` works in your own folder, which requires `sandbox.level` to be `off`"
    )]
    InProject,
    /// The agent cannot have a git folder of its own, and nothing else of the project's may be opened.
    #[error(
        "the repository is a partial clone, whose objects are fetched when they are read; a sandbox needs all of them: run `git fetch --refetch` \
         without a filter, or set `sandbox.level` to `off`"
    )]
    PartialClone,
    /// The places of the sandbox do not fit together.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The ways out of the sandbox could not be made.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A file of the sandbox could not be made.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase that the path completes.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The answer of the system.
        #[source]
        source: io::Error,
    },
    /// bubblewrap did not make the sandbox.
    #[error("the sandbox could not be created: {message}")]
    NotMade {
        /// Its last words.
        message: String,
    },
    /// The program could not be confined or found inside.
    #[error("the program did not start in the sandbox: {message}")]
    NotConfined {
        /// What failed.
        message: String,
    },
}

/// What to do about any of them, as an end of its sentence.
pub(crate) const ADVICE: &str = "see `symphony doctor` and the section `sandbox` of the configuration; then run `symphony resume` to try again at once";

impl SandboxFault {
    /// Returns what failed and what to do, for a person.
    pub(crate) fn with_advice(&self) -> String {
        format!("{self}; {ADVICE}")
    }
}
