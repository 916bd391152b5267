//! Plan files: `symphony plan`, a file each.

mod check;
mod dialog;
mod find;
mod graph;
mod init_state;
mod keyboard;
mod mark;
mod orders;
mod parse;
mod prompt;
mod ready;
mod record;
mod resolve;
mod run;
mod run_loop;
mod source;
mod state;
mod status;
mod statusline;
mod tree;

pub(crate) use statusline::print_statusline;
pub(crate) use tree::PlanCommand;
