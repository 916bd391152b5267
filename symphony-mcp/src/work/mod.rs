//! Checks and reads the worktree of a session.

pub(crate) mod change;
pub(crate) mod committable;
pub(crate) mod delivered;
pub(crate) mod evidence;
