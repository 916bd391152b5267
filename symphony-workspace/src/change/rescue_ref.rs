//! The ref to which unsaved work was saved.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::commit_id::CommitId;

/// A saved state: `refs/symphony/rescue/<key>/<time>`.
///
/// Its commit has the folder's contents, without copied configuration files and ignored files. Its first parent is the
/// commit that was checked out; a second one, if any, has the index as it was staged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescueRef {
    /// Full name of the ref.
    pub reference: String,
    /// The commit that it points to.
    pub commit: CommitId,
}

impl fmt::Display for RescueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.reference)
    }
}
