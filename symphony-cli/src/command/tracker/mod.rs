//! Trackers that issues are mirrored with: `symphony tracker`.

mod check;
mod named;
mod status;
mod sync;
mod tree;

pub(crate) use sync::sync_all;
pub(crate) use tree::TrackerCommand;
