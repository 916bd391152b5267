//! A worker: a process on a host of a pool that takes runs and starts their supervisors there (`docs/design/0051`).
//!
//! The supervisor of such a run is that of any other one. What is different is around it: the project is a clone of the hub (`local`),
//! which is brought up to date first; results go to the hub before they are recorded (`hand_over`); the log goes to the
//! database in pieces (`log`); and the worker does for the runs of its host what a tick does for those of the control (`round`).

mod chore;
mod finished;
mod folder;
mod hand_over;
mod local;
mod log;
mod look_after;
mod model;
mod not_started;
mod put_off;
mod refusal;
mod resting;
mod round;
mod serve;
mod source;
mod upkeep;
mod zombies;

pub use hand_over::HandOverError;
pub use local::LocalProject;
pub use model::{Until, WorkerNews, WorkerOptions};
pub use refusal::WorkerRefusal;
pub use serve::{host_name, work};

pub(crate) use hand_over::{HandOver, HubPlace};
pub(crate) use log::LogSender;
