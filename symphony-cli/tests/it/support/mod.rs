//! What the end-to-end tests stand on: a project of its own for each, its processes, scenario files.

mod processes;
mod project;
mod script;

pub(crate) use processes::{agents_of, is_there, kill, supervisor_of};
pub(crate) use project::{Answer, Project, text, until};
pub(crate) use script::{JUDGE, WORKER, bash, call, commit, create_pr, hang, scenario, scenarios, turn};
