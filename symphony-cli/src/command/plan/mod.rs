//! Plan files: `symphony plan`, a file each.

mod check;
mod find;
mod graph;
mod init_state;
mod mark;
mod parse;
mod prompt;
mod ready;
mod resolve;
mod source;
mod state;
mod statusline;
mod tree;

pub(crate) use statusline::print_statusline;
pub(crate) use tree::PlanCommand;
