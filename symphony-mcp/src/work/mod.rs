//! What lies in the worktree of a session: checked, and read to be recorded.

pub(crate) mod change;
pub(crate) mod committable;
pub(crate) mod delivered;
pub(crate) mod evidence;
