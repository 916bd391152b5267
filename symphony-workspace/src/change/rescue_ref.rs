//! The ref that unsaved work was saved to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::commit_id::CommitId;

/// A saved state: `refs/symphony/rescue/<key>/<time>`.
///
/// Its commit holds the folder's contents (copied configuration files and ignored files excepted);
/// its first parent is the commit that was checked out, and a second one, if any, holds the index
/// as it was staged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescueRef {
    /// Full name of the ref.
    pub reference: String,
    /// What it points to.
    pub commit: CommitId,
}

impl fmt::Display for RescueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.reference)
    }
}
