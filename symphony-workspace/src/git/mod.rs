//! The git program, in the only form that is safe on a tree that an agent touched.
//!
//! This module starts every `git`; nothing else in the workspace does. The caller's environment does not reach it, the
//! three folders are pinned, and every setting through which a repository could name a program is overridden or blanked
//! (reliability.md, "Git on a tree that an agent touched"). Reads that need no program go through libgit2 if it can
//! open the repository.

mod answer;
mod apart;
mod checkouts;
mod child;
mod command;
mod commits;
mod committers;
mod drivers;
#[cfg(feature = "failpoints")]
mod fault;
mod found_locks;
mod identity;
mod idle;
mod library;
mod lock_file;
mod network;
mod place;
mod plain_config;
mod program;
mod reader;
mod ref_files;
mod ref_list;
mod ref_name;
mod relation;
mod shallow;
mod suspects;
mod user_config;

pub(crate) use answer::fields;
pub(crate) use apart::is_partial;
pub(crate) use drivers::runs_programs;
pub(crate) use found_locks::{locks_below, locks_in};
pub(crate) use lock_file::{Cleared, clear_lock, is_left};
pub(crate) use network::{Call, NetworkAnswer, Waiting};
pub(crate) use place::Git;
pub(crate) use reader::{CommonReader, Link};
pub(crate) use ref_name::is_ref_part;
pub(crate) use shallow::copy_shallow;
pub(crate) use suspects::note_shared_locks;
pub(crate) use user_config::UserConfig;

#[cfg(feature = "failpoints")]
pub use fault::{GIT_FAULTS_VARIABLE, GitCall, GitDeath, GitFaults};
pub use identity::Identity;
pub use place::Place;
pub use program::{GIT_VERSION_MIN, GitProgram};
