//! What a tick cleans up: worktrees, logs, refs and files of ended runs and issues.

pub mod clean_up;
pub(crate) mod kept;
pub mod kept_documents;
pub mod left_worktrees;
pub(crate) mod leftovers;
pub mod retention;
pub(crate) mod rewound;
