//! What people and agents changed, and whether it got through.

use symphony_core::id::IssueId;
use symphony_tracker::linked::{Field, Side};

/// One edit of a linked issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) issue: IssueId,
    pub(crate) side: Side,
    pub(crate) field: Field,
    pub(crate) value: Value,
    /// How many conflicts the log had before it.
    pub(crate) conflicts_before: usize,
    /// Whether the other side had it at any time after.
    pub(crate) has_arrived: bool,
    /// Whether its own side was edited again.
    pub(crate) is_superseded: bool,
}

/// A value that both sides can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A title or a text.
    Text(String),
    /// Whether a label is set, or what a priority or a state is called.
    Word(String),
}

impl Edit {
    pub(crate) fn new(issue: IssueId, side: Side, field: Field, value: Value) -> Self {
        Self {
            issue,
            side,
            field,
            value,
            conflicts_before: 0,
            has_arrived: false,
            is_superseded: false,
        }
    }

    /// Returns whether nothing more is asked of it.
    pub(crate) fn is_settled(&self) -> bool {
        self.has_arrived || self.is_superseded
    }
}
