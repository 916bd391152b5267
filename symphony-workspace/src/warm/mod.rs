//! Generations of build output, and checkouts that start with a copy of one.
//!
//! What may be kept and when is decided by [`symphony_core::warm`]; here are the files. Nothing in a generation is trusted
//! because of where it is: its files are compared with what was recorded when it was made, and what a checkout gets of it is
//! compared with the commit by contents.

mod changes;
mod copy_entry;
mod copy_tree;
mod donate;
mod entries;
mod file_data;
mod marks;
mod packages;
mod pool;
mod prune;
mod seed;

pub use donate::Donation;
pub use packages::PackageMarks;
pub use pool::{DisabledPool, Generation, WarmPool};
