//! Pristine checkouts: the files of one commit and nothing else, in a private clone.
//!
//! A gate proves something about a commit only if no one's working tree can influence it. A linked worktree shares
//! `info/exclude`, hooks, refs, stash and configuration with the folders that agents work in; a private clone has its
//! own of all of them and borrows only the objects.

mod anchor;
mod beside;
mod clone;
mod entry;
mod git_entries;
mod git_folder;
mod kept;
mod planted;
mod restore;
mod settings;
mod tracked;

pub use clone::Pristine;
pub use planted::Planted;

pub(crate) use clone::{FOLDERS, borrow_objects};
pub(crate) use settings::config_text;
pub(crate) use tracked::files_of;
