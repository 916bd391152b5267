//! Which database belongs to a repository: decided from what is found, before anything is written.
//!
//! A database has an installation id. Each repository that it knows has a marker with that id beside the folders of its
//! runs, and a second one in its git folder. A database that is empty, missing or of another installation never
//! replaces the one that a repository was worked on with: its issue numbers would start at 1 again, and new issues
//! would reuse the branches and worktrees of old ones. Neither does an older copy of it: its progress is recorded
//! beside it and in the git folder, and a database behind that mark would issue the same numbers, and start the same
//! runs, again.

mod mark;
mod marker;
mod traces;
mod verdict;

pub use mark::{Mark, NUMBERS_AHEAD_MAX, RESTORES_AHEAD_MAX, Reach, highest_mark};
pub use marker::Marker;
pub use traces::{Seen, Traces};
pub use verdict::{DatabaseState, Facts, IdentityProblem, ProjectPlace, Verdict, identify};
