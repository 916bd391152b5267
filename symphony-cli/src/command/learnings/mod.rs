//! What agents and people learned: `symphony learnings`.

mod add;
mod list;
mod rank;
mod search;
mod tree;

pub(crate) use tree::LearningsCommand;
