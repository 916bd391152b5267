//! What keeps the service from going on.

use std::io;
use std::path::PathBuf;

use symphony_runner::RunnerError;
use symphony_runner::process::ProcessError;
use symphony_store::StoreError;
use symphony_sync::{SyncError, TokenError};

use super::file::FileFault;

/// A fault of the service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Another loop or tick works with the same file.
    #[error("another `run --workflow` or `tick --workflow` is working with {}", workflow.display())]
    Busy {
        /// The file.
        workflow: PathBuf,
    },
    /// The file cannot be used as it is.
    #[error("{fault}")]
    File {
        /// The file.
        workflow: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: FileFault,
    },
    /// The address of the tracker cannot be used.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The token of the tracker cannot be used.
    #[error("the token of the tracker: {0}")]
    Token(#[from] TokenError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A process or a lock.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A command.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The port of the page cannot be listened on.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Port {
        /// The port.
        port: u16,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file or folder of the service.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file of a worker has something else in it than the service wrote.
    #[error("{} is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
}

impl ServiceError {
    /// Returns the text with what the system says, which `Display` leaves to the source.
    pub(crate) fn with_cause(&self) -> String {
        let text = self.to_string();
        match std::error::Error::source(self) {
            Some(cause) if !text.contains(&cause.to_string()) => format!("{text}: {cause}"),
            _ => text,
        }
    }

    /// Returns why the files of a worker cannot be written, the same at each try: their paths have the id of the worker.
    pub(crate) fn without_path(&self) -> String {
        match self {
            Self::Io { action, source, .. } => format!("cannot {action} its files: {source}"),
            other => other.with_cause(),
        }
    }
}

/// Returns a function that turns a fault of the system into an error.
pub(crate) fn io_error(
    action: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> ServiceError {
    let path = path.into();
    move |source| ServiceError::Io {
        action,
        path,
        source,
    }
}
