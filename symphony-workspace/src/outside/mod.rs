//! What a base branch shows of changes that Symphony did not merge into it.
//!
//! It only reads, and each look is bounded: by the commits since the last one, and of those by the ones that touch the
//! files of the change.

mod branch_log;
mod change;
mod merger;
mod shown_merges;

pub use change::{ChangeQuery, FoundChange};
