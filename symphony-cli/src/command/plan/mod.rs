//! Plan files: `symphony plan`, a file each.

mod check;
mod dialog;
mod find;
mod graph;
mod init_state;
mod keyboard;
mod lease;
mod mark;
mod orders;
mod parse;
mod prompt;
mod ready;
mod record;
mod resolve;
mod run;
mod run_loop;
mod settings;
mod source;
mod state;
mod status;
mod statusline;
mod summary;
mod tree;

pub(crate) use record::{find_plan, named as named_plan};
pub(crate) use statusline::print_statusline;
pub(crate) use tree::PlanCommand;
