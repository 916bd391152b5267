//! Pull requests: `symphony pr`.

mod check;
mod diff;
mod find;
mod list;
mod merge;
mod publish;
mod show;
mod tree;
mod verdict;

pub(crate) use tree::PrCommand;
pub(crate) use verdict::{RedGates, Verdict, open_pr, other_subject};
