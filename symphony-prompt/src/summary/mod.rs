//! Documents of earlier phases, shortened to the room they get.

mod fit;
mod outline;
mod shorten;
mod signature;

pub(crate) use fit::{Preference, Shown, fit_artifacts};
pub use shorten::{shorten_artifact, summarize_artifact};
