//! What is proposed.

use std::fmt;

use symphony_core::config::{CommandLine, Gate};

/// Gates and a set-up command for a repository, and what was seen and not used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The gates, each required.
    pub gates: Vec<Gate>,
    /// The command that prepares a fresh checkout for the gates; `None` if they need nothing.
    pub setup: Option<CommandLine>,
    /// Folders that set-up or gates fill (`.venv/`, `web/node_modules/`), relative to the root. No commit may take
    /// them.
    pub fills: Vec<String>,
    /// What was seen and not used, for a person.
    pub notes: Vec<ProposalNote>,
}

/// Something in a file that a person should know before the gates are relied upon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProposalNote {
    /// The file, relative to the root.
    pub file: String,
    /// What about it; a sentence without a full stop.
    pub text: String,
}

impl fmt::Display for ProposalNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.text)
    }
}
