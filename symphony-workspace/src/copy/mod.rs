//! Configuration files that a worktree needs and git does not have.

mod files;
mod patterns;
mod record;

pub use files::{CopyProblem, CopyReport};
