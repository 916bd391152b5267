//! Agent providers, process supervision, stream parsing, dispatch, exit handling, the tick.
//!
//! [`tick`] claims and starts; [`supervise`] is the body of the process that each run gets; [`merge`], [`cancel`] and
//! [`clean_up`] are what a human asks for.

pub mod absorb;
pub mod audit;
pub mod cancel;
pub mod clean_up;
pub mod confirm;
pub mod database;
pub mod environment;
pub mod error;
pub mod gates;
mod helper;
mod hook;
pub mod inbox;
pub mod installation;
pub mod kept_documents;
pub mod left_worktrees;
mod leftovers;
pub mod library;
pub mod lint;
mod live_trial;
pub mod merge;
mod merge_content;
mod merge_gates;
mod merge_turn;
mod merge_watch;
mod models;
pub mod notify;
pub mod output;
pub mod paths;
pub mod person;
pub mod plan;
pub mod preview;
pub mod process;
pub mod provider;
pub mod publish;
pub mod redaction;
pub mod repository;
pub mod retention;
mod rewound;
mod runtime;
mod shared_state;
pub mod standing;
pub mod stream;
pub mod supervise;
pub mod tick;
pub mod trial;
mod unpublished;
pub mod watchdog;
pub mod worker_prompt;

pub use error::RunnerError;
