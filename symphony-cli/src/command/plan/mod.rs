//! Plan files: `symphony plan`, a file each.

mod check;
mod find;
mod parse;
mod source;
mod tree;

pub(crate) use tree::PlanCommand;
