//! A pull request as it was published elsewhere, by a configured command (spec: orchestrator, "Human actions").

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

closed_set!(
    /// How far a publication came.
    PublicationState, "publication state", {
        /// Its command is running, or its result was not recorded.
        Running = "running",
        /// Its command succeeded.
        Published = "published",
        /// Its command failed.
        Failed = "failed",
    }
);

/// One attempt to publish a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// The commit that was the head then.
    pub commit: String,
    /// How far it came.
    pub state: PublicationState,
    /// The command's exit code.
    pub exit_code: Option<i32>,
    /// The address that it printed.
    pub url: Option<String>,
    /// The end of what it printed.
    pub output: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// Returns the address that a command printed: its last line that is one.
pub fn printed_url(output: &str) -> Option<&str> {
    output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| {
            ["https://", "http://"]
                .iter()
                .any(|scheme| line.starts_with(scheme))
        })
        .filter(|line| !line.contains(char::is_whitespace) && line.len() <= URL_BYTES_MAX)
}

/// Longest address that is kept.
const URL_BYTES_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_is_an_address_is_the_address() {
        for (output, expected) in [
            ("", None),
            (
                "pushed\nhttps://forge.example/pr/7\n",
                Some("https://forge.example/pr/7"),
            ),
            ("http://a\n  https://b \nWarning: old", Some("https://b")),
            ("see https://a", None),
            ("https://a and more", None),
        ] {
            assert_eq!(printed_url(output), expected, "{output}");
        }
    }
}
