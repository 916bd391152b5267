//! What a worker is given, and how it says that it ended: two files in its folder.

use std::fs;

use serde::{Deserialize, Serialize};
use symphony_runner::process::ProcessIdentity;
use symphony_store::ServiceTask;

use super::error::{ServiceError, io_error};
use super::place::{WorkerFiles, create_private, write_whole};
use super::ticket::KeptTicket;

/// What a worker has to do. It has no secret: the worker reads the settings from the text, with its own environment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkOrder {
    /// The file that the settings are from.
    pub(crate) workflow: std::path::PathBuf,
    /// Its text, as it was in force.
    pub(crate) text: String,
    /// What to do.
    pub(crate) task: Task,
    /// The ticket.
    pub(crate) ticket: KeptTicket,
    /// Which attempt it is; absent for the first.
    pub(crate) attempt: Option<u32>,
}

/// What to do, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Task {
    Attempt,
    AfterRun,
    Remove,
}

impl From<ServiceTask> for Task {
    fn from(task: ServiceTask) -> Self {
        match task {
            ServiceTask::Attempt => Self::Attempt,
            ServiceTask::AfterRun => Self::AfterRun,
            ServiceTask::Remove => Self::Remove,
        }
    }
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum WorkEnd {
    /// It did what it had to.
    Completed,
    /// It was asked to end.
    Stopped,
    /// It failed.
    Failed {
        /// The name by which logs find it.
        class: String,
        /// Why.
        error: String,
    },
}

impl WorkEnd {
    pub(crate) fn failed(class: &str, error: &(impl ToString + ?Sized)) -> Self {
        Self::Failed {
            class: class.to_owned(),
            error: error.to_string(),
        }
    }
}

fn damaged(path: std::path::PathBuf) -> impl FnOnce(serde_json::Error) -> ServiceError {
    move |error| ServiceError::Damaged {
        path,
        detail: error.to_string(),
    }
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("files of workers have string keys only")
}

impl WorkerFiles {
    pub(crate) fn write_order(&self, order: &WorkOrder) -> Result<(), ServiceError> {
        create_private(self.folder())?;
        write_whole(&self.order(), &text_of(order))
    }

    pub(crate) fn read_order(&self) -> Result<WorkOrder, ServiceError> {
        let path = self.order();
        let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
        serde_json::from_str(&text).map_err(damaged(path))
    }

    pub(crate) fn write_identity(&self, identity: &ProcessIdentity) -> Result<(), ServiceError> {
        write_whole(&self.identity(), &text_of(identity))
    }

    /// Returns the identity of the worker's process; `None` until it has begun.
    pub(crate) fn read_identity(&self) -> Option<ProcessIdentity> {
        let text = fs::read_to_string(self.identity()).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn write_end(&self, end: &WorkEnd) -> Result<(), ServiceError> {
        write_whole(&self.end(), &text_of(end))
    }

    /// Returns how the worker ended; `None` when it did not say so, because it died.
    pub(crate) fn read_end(&self) -> Option<WorkEnd> {
        let text = fs::read_to_string(self.end()).ok()?;
        serde_json::from_str(&text).ok()
    }
}
