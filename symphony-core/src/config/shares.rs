//! How the budget of a user prompt is shared between its parts.

use serde::{Deserialize, Serialize};

/// Percentages of the user prompt's budget; they add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// The description.
    pub description: u8,
    /// The diff.
    pub diff: u8,
    /// Findings.
    pub findings: u8,
    /// Learnings.
    pub learnings: u8,
    /// Comments.
    pub comments: u8,
    /// Output of earlier runs.
    pub previous_output: u8,
}

impl Shares {
    /// Adds the percentages up.
    pub fn sum(&self) -> u32 {
        [
            self.description,
            self.diff,
            self.findings,
            self.learnings,
            self.comments,
            self.previous_output,
        ]
        .into_iter()
        .map(u32::from)
        .sum()
    }
}
