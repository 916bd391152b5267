//! What a visitor may do.

use serde::{Deserialize, Serialize};

/// What a visitor may do; each role may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Adds and edits issues, comments, answers, decides and retries.
    Reviewer,
    /// Merges, forces, cancels and pauses, too.
    Admin,
}

impl Role {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Reviewer => "reviewer",
            Self::Admin => "admin",
        }
    }

    /// Returns whether somebody with this role may do what needs another one.
    pub fn may(self, needed: Self) -> bool {
        self >= needed
    }
}
