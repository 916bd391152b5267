//! Learnings: written, read, ranked, and how useful they were.

pub(crate) mod edit;
pub(crate) mod import;
pub(crate) mod pack;
pub(crate) mod rank;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod state;
pub(crate) mod usage;
pub(crate) mod usefulness;
