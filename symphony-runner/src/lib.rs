//! Agent providers, process supervision, stream parsing, dispatch, exit handling, the tick.
//!
//! [`tick`] claims and starts runs; [`supervise`] is the body of the process that each run gets; [`merge`], [`cancel`]
//! and [`upkeep::clean_up`] are what a human asks for.

pub mod absorb;
pub mod audit;
pub mod cancel;
pub mod confirm;
mod conversation;
pub mod database;
pub mod environment;
pub mod error;
pub mod forge;
pub mod gates;
pub mod hook;
pub mod inbox;
pub mod installation;
pub mod merge;
pub mod models;
pub mod network;
pub mod order;
pub mod output;
pub mod outreach;
pub mod paths;
pub mod person;
pub mod placement;
pub mod plan;
pub mod process;
pub mod prompts;
pub mod provider;
pub mod redaction;
pub mod repository;
mod resume;
mod runtime;
pub mod sandbox;
pub mod session;
mod shared_state;
pub mod standing;
pub mod step_event;
pub mod stream;
pub mod supervise;
pub mod take_over;
pub mod tick;
pub mod tracker;
pub mod trial;
pub mod upkeep;
pub mod watchdog;
pub mod worker;

pub use conversation::InputWriter;
pub use error::RunnerError;
