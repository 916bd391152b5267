//! The loop around attempts: settings, tracker, workspaces, workers, retries, and what people see of them.
//!
//! [`Service`] holds the lock of one `WORKFLOW.md`. It looks at its workers (`collect`) and at the tracker (`turn`),
//! decides with `symphony-workflow`, records, and only then acts. [`Worker`] is the process that each attempt gets.

mod board;
mod collect;
mod conclude;
mod core;
mod error;
mod event_file;
mod file;
mod folder;
mod http;
mod launch;
mod log;
mod look;
mod order;
mod page;
mod place;
mod polls;
mod progress;
mod run;
mod sentence;
mod snapshot;
mod ticket;
mod turn;
mod worker;

pub use self::core::{Service, Start};
pub use board::{Board, NoSnapshot};
pub use error::ServiceError;
pub use file::{FileChange, FileFault, WatchedFile, Workflow};
pub use folder::FolderFault;
pub use http::Server;
pub use launch::WORKER_COMMAND;
pub use log::{Log, LogLevel, LogLine};
pub use place::{ServicePlace, WorkerFiles};
pub use snapshot::{
    Counts, KnownTicket, RetryRow, RunningRow, Snapshot, Tokens, Totals, WaitingRow,
};
pub use worker::Worker;
