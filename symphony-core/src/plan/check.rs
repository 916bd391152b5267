//! Checks: what Symphony verifies itself before a phase's work counts.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::CommandLine;

/// Most checks of a phase: each may run for minutes.
pub const CHECKS_MAX: usize = 20;
/// Time limit of a check's command unless it has its own, in milliseconds: ten minutes, as for a gate.
pub const CHECK_TIMEOUT_MS_DEFAULT: u64 = 10 * 60 * 1_000;

/// A check of a phase. In a plan file `{"name", "command", "timeout_ms"?}` or `{"name", "file"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name, unique in the phase.
    pub name: String,
    /// What is verified.
    #[serde(flatten)]
    pub kind: CheckKind,
}

/// What a check verifies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CheckKind {
    /// A command that must succeed.
    Command {
        /// What is run: a text runs with `sh -c`, a list is an argv.
        command: CommandLine,
        /// Its time limit in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// A file or folder that must exist.
    File {
        /// Its path, relative to the project.
        file: String,
    },
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, .. } => write!(f, "`{command}` succeeds"),
            Self::File { file } => write!(f, "`{file}` exists"),
        }
    }
}

/// Describes to an agent which checks Symphony runs when it reports its phase complete; `None` for a phase without
/// checks.
pub fn describe_checks(checks: &[Check]) -> Option<String> {
    if checks.is_empty() {
        return None;
    }
    let lines = checks.iter().map(|check| {
        format!(
            "- {}: {}",
            one_line(&check.name),
            one_line(&check.kind.to_string())
        )
    });
    Some(format!(
        "When you report this phase as complete, Symphony merges it into the work of the other phases and runs these checks there. The phase counts as complete only if all of them pass:\n\n{}",
        lines.collect::<Vec<_>>().join("\n")
    ))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
