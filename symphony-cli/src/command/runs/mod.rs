//! Runs of agents: `symphony runs`.

mod cancel;
mod find;
mod list;
mod logs;
mod open;
mod prompt;
mod relay;
mod say;
mod screen_state;
mod sent_log;
mod show;
mod tree;
mod withdraw;

pub(crate) use find::{find_agent_run, find_run};
pub(crate) use prompt::sent_prompts;
pub(crate) use tree::RunsCommand;
