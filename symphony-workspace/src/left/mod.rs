//! What a run leaves in its worktree that no commit has: observed here, judged by `symphony_core::left_behind`.

mod absorb;
mod baseline;
mod nested;
mod observe;
mod reveal;
mod set_up;

pub use absorb::Absorbed;
