//! A base branch that Symphony leaves where it is.

use symphony_workspace::CommitId;

/// A base branch that a person has to push, or not.
#[derive(Debug)]
pub(super) struct KeptBase {
    /// The commit that it is at there.
    pub(super) theirs: CommitId,
    /// Why it is not pushed.
    pub(super) problem: String,
}
