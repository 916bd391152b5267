//! What a worker remembers between two looks for worktrees of ended issues.

use std::collections::BTreeMap;
use std::time::Instant;

use symphony_core::id::IssueId;

/// What a worker has found out about worktrees of ended issues.
#[derive(Debug, Default)]
pub(super) struct Tidying {
    /// When the next look is.
    pub(super) due: Option<Instant>,
    /// Those that could not be removed, and when.
    pub(super) failed: BTreeMap<IssueId, Instant>,
}
