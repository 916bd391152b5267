//! What a run leaves in its worktree that no commit has: observed here, judged by `symphony_core::left_behind`.

mod absorb;
mod baseline;
mod modules;
mod nested;
mod observe;
mod reveal;
mod set_up;
mod stray;
mod unpublished;

pub use absorb::Absorbed;
pub use modules::SavedSubmodule;
pub use stray::{KnownWork, StrayWork};
pub use unpublished::UnpublishedLink;
