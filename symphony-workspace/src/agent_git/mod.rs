//! A separate git folder for each agent.
//!
//! A linked worktree shares refs, stash, configuration, hooks and objects with the project: an agent in it could rewrite
//! the user's branches. So while an agent works, its checkout has a `.git` folder that only borrows the project's
//! objects. Before anything looks at the agent's work, its commits are imported (see `import`) and the project's own
//! registration of the worktree is brought to the same state. Between runs the checkout is a linked worktree, for people
//! and for everything else in this crate.
//!
//! ```text
//! linked worktree --give--> folder of its own, an agent works --take--> linked worktree
//!                                  |     ^
//!                                  +-read-+   for its tools, while it works
//! ```
//!
//! A note in the registration says how far a change between the two came. Each step can be repeated after a death.

mod added;
mod give;
mod note;
mod place;
mod settings;
mod state;
mod take;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use added::added_worktrees;
pub(crate) use note::{Note, is_given};

/// Held while a git folder is given, read or taken: a call of a tool may still be at work when its agent has ended, and must not
/// bring back what was taken. Other processes leave the worktree of a live run alone.
static EXCHANGE: Mutex<()> = Mutex::new(());

fn exchange() -> MutexGuard<'static, ()> {
    EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner)
}
