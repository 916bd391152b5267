//! What identifies a repository's database: its marker, and the traces of earlier work.

mod mark;
mod marker;
mod traces;

pub use mark::MarkPlaces;
pub use marker::{read_marker, remove_marker, write_marker};
pub use traces::{find_traces, is_own_branch};
