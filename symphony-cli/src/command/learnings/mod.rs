//! What agents and people learned: `symphony learnings`.

mod add;
mod edit;
mod export;
mod import;
mod line;
mod list;
mod rank;
mod retire;
mod search;
mod show;
mod stats;
mod tree;

pub(crate) use tree::LearningsCommand;
