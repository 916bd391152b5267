//! What a tick puts in order: worktrees, logs, refs and files of what has ended.

pub mod clean_up;
pub mod kept_documents;
pub mod left_worktrees;
pub(crate) mod leftovers;
pub mod retention;
pub(crate) mod rewound;
