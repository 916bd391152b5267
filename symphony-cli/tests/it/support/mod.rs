//! What the end-to-end tests stand on: a project of its own for each, its processes, scenario files.

#[cfg(feature = "browser")]
mod chromium;
mod git_in_front;
mod inbox;
#[cfg(feature = "real-cli")]
mod model;
mod openapi;
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod processes;
#[cfg(feature = "postgres")]
pub(crate) mod programs;
mod project;
#[cfg(feature = "real-cli")]
mod real_cli;
#[cfg(any(feature = "python-mcp", feature = "real-cli"))]
mod roles;
mod script;
mod terminal;
#[cfg(feature = "postgres")]
mod worker_host;

#[cfg(feature = "browser")]
pub(crate) use chromium::{Chromium, Looks};
pub(crate) use git_in_front::git_in_front;
#[cfg(feature = "real-cli")]
pub(crate) use model::Model;
pub(crate) use openapi::OpenApi;
pub(crate) use page::{Browser, Reply, Served, encoded, exchange, get, host_and_path, post, send};
#[cfg(feature = "postgres")]
pub(crate) use postgres::{POSTGRES_USER, PostgresFolder};
#[cfg(feature = "postgres")]
pub(crate) use processes::kill_all_at_home;
#[cfg(all(feature = "postgres", feature = "failpoints"))]
pub(crate) use processes::{agents_at_work, at_home, supervisors_at};
pub(crate) use processes::{agents_of, is_there, kill, supervisor_of};
#[cfg(any(feature = "failpoints", feature = "harness"))]
pub(crate) use project::LIFE_MAX;
#[cfg(feature = "failpoints")]
pub(crate) use project::file_names;
pub(crate) use project::{Answer, Project, lock_is, moment, on_one_day, text, until};
#[cfg(feature = "real-cli")]
pub(crate) use real_cli::RealCli;
#[cfg(feature = "python-mcp")]
pub(crate) use roles::every_tool;
#[cfg(any(feature = "python-mcp", feature = "real-cli"))]
pub(crate) use roles::{JUDGE_TOOLS, WORKER_TOOLS, row};
pub(crate) use script::{
    JUDGE, PLANNER, WORKER, approving_judge, bash, call, commit, create_pr, git_commit, hang,
    scenario, scenarios, turn, worker, write_research,
};
pub(crate) use terminal::Terminal;
#[cfg(feature = "postgres")]
pub(crate) use worker_host::{on_host, start_worker};
