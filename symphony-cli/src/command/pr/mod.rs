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

pub(crate) use find::find_pr_for;
pub(crate) use tree::PrCommand;
pub(crate) use verdict::{give, other_subject};
