//! Worktrees: names, creation, reuse, repair of broken states, and removal.

mod broken;
mod create;
mod head;
mod key;
mod left;
mod listing;
mod locks;
mod model;
mod moved;
mod prepare;
mod registration;
mod remove;
mod temporary;
mod unknown;

pub use key::WorktreeKey;
pub use left::ClearedTemporary;
pub use listing::{ListedWorktree, WorktreeState};
pub use model::{
    BaseMerge, BranchFate, MergeOfBase, Prepared, Recovery, RemoveRequest, Worktree,
    WorktreeRequest,
};
pub use registration::Registration;
pub use remove::{BranchOutcome, Removed};

pub(crate) use broken::refuse_link;
pub(crate) use head::is_start;
pub(crate) use locks::clear_stale_locks;
#[cfg(test)]
pub(crate) use registration::parse_list;
pub(crate) use registration::recorded_path;
