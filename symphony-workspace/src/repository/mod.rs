//! A project's repository: where it is, which branch is its base, its lock, what it ignores.

mod bare;
mod base;
mod branch;
mod commits;
mod contents;
mod document;
mod exclude;
mod kept;
mod left_locks;
mod lock;
mod open;
mod options;
mod own_branches;
mod pack;
mod refs;
mod submodules;
mod unwritable;
mod writable;

pub use base::Base;
pub use branch::BranchName;
pub use commits::CommitLine;
pub use contents::{Elsewhere, FilterUse, LFS_FILTER};
pub use document::{DocumentPlaces, DocumentProblem, FoundDocument};
pub use left_locks::LeftLock;
pub use lock::RepositoryLock;
pub use open::{Discovered, Repository, discover};
pub use options::RepositoryOptions;
pub use unwritable::Unwritable;

pub(crate) use own_branches::OWN_BRANCHES;
pub(crate) use refs::{
    Expect, HeadFile, Unconfirmed, clear_lock_of_gone, commit_tree, delete_ref, head_reference,
    move_ref, point_head, set_own_ref, tree_of,
};
