//! Why a worker does not work.

use std::path::PathBuf;

use symphony_core::id::{ProjectId, RunId};
use symphony_core::placement::{Host, Pool};

/// Why a worker does not begin, or does not start a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerRefusal {
    /// The database is a file.
    #[error(
        "a worker needs a database that other hosts can reach, but this one is the file {}",
        path.display()
    )]
    FileDatabase {
        /// The file.
        path: PathBuf,
    },
    /// Another worker of this host serves the pool with the same folder.
    #[error("another worker of pool `{pool}` works with the folder {}", data.display())]
    Second {
        /// The pool.
        pool: Pool,
        /// The folder of its clones.
        data: PathBuf,
    },
    /// Another worker has this one's name.
    #[error(
        "the name `{host}` is in use in pool `{pool}` by a worker with another `--data-dir`, or on another machine. Give this worker another name (`--host`), or end the other one: this one begins once that has been silent for `lease.dead_ms` and `lease.beat_ms`"
    )]
    NameTaken {
        /// The name.
        host: Host,
        /// The pool.
        pool: Pool,
    },
    /// A run of this host has begun in another folder.
    #[error(
        "it was begun with another `--data-dir`, so this worker cannot look after it: it continues while its supervisor lives. If that folder is on this host, start the worker with it again"
    )]
    InAnotherFolder,
    /// There is no folder for the clones.
    #[error(
        "no folder for the worker's clones is known: there is neither `worker.data_dir` nor a home folder"
    )]
    NoFolder,
    /// The name of this host is no name that a worker can have.
    #[error("the name of this host, `{found}`, is not valid as a worker's name")]
    NoHostName {
        /// The name.
        found: String,
    },
    /// The hub has another result of a run than the one that this host brought there.
    #[error("the hub has a result of run {run} that this supervisor did not bring there")]
    OtherResult {
        /// The run.
        run: RunId,
    },
    /// The hub does not take the result of a run.
    #[error("the hub refuses the result of run {run}: {detail}")]
    ResultRefused {
        /// The run.
        run: RunId,
        /// The hub's words.
        detail: String,
    },
    /// The control has not said how the project is worked on.
    #[error("the control has not handed over the {missing} of project `{project}`")]
    NotHandedOver {
        /// The project.
        project: ProjectId,
        /// What is missing.
        missing: &'static str,
    },
}
