//! The database of an installation: which one it is, its backups, and the way back when it is lost.

mod backup;
mod copy;
mod current;
mod go_on;
mod identity;
mod in_use;
mod locks;
mod marker;
mod moved;
mod open;
mod projects;
mod refusal;
mod restore;

pub(crate) use backup::back_up_if_due;
pub use backup::{Backup, back_up_in_helper, discard_backups, list_backups, state_folder};
pub use copy::copy_database;
pub use current::Consent;
pub use identity::{current_traces, is_marked, note_mark};
pub use projects::{
    ProjectFates, RemovedProject, WorktreesFate, move_project, remove_project, worktrees_of,
};
pub use refusal::DatabaseRefusal;
pub use restore::{RestoreSource, Restored, restore};
