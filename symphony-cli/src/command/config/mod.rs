//! The configuration: `symphony config`.

mod check;
mod list;
mod set;
mod show;
mod tree;

pub(crate) use check::problems_of;
pub(crate) use tree::ConfigCommand;
