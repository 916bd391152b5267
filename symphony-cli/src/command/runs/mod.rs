//! Runs of agents: `symphony runs`.

mod cancel;
mod find;
mod follow;
mod list;
mod logs;
mod show;
mod tree;

pub(crate) use find::find_run;
pub(crate) use tree::RunsCommand;
