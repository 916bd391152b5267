//! Learnings: written, read, ranked, and what became of them.

pub(crate) mod import;
pub(crate) mod pack;
pub(crate) mod rank;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod state;
pub(crate) mod usage;
pub(crate) mod usefulness;
