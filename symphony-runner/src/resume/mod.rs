//! Sessions that later runs resume: where their files are kept, what is new for them, and when they are removed.

mod clean_up;
mod folder;
mod load;

pub(crate) use clean_up::{remove_old_sessions, remove_sessions_of};
pub(crate) use folder::{kept_folder, link_into};
pub(crate) use load::{News, Resumption};
