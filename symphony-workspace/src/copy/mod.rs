//! Configuration files that a worktree needs and git does not have.

mod files;
mod patterns;
mod record;

pub use files::{CopyProblem, CopyReport};

pub(crate) use files::{COPY_BYTES_MAX, copy_into, is_temporary};
pub(crate) use patterns::matching_files;
