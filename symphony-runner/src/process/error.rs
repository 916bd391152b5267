//! What can go wrong with processes.

use std::io;
use std::path::PathBuf;

/// A failure of starting, watching or ending processes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// This system lacks what Symphony needs to keep an agent's processes together.
    #[error(
        "Symphony does not run agents on {system}: it runs them only on Linux, whose \
         subreaper, pidfds and /proc it needs to end all of their processes"
    )]
    Unsupported {
        /// The system's name.
        system: &'static str,
    },
    /// The program was not found (error class `provider_missing` for an agent).
    #[error("the program `{program}` was not found in {searched}")]
    ProgramNotFound {
        /// The name or path that was searched.
        program: String,
        /// Where it was searched: the search path, or the path itself.
        searched: String,
    },
    /// The program exists, but is not an executable file.
    #[error("{} is not an executable file", path.display())]
    ProgramNotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The program was found, but the system did not start it.
    #[error("cannot start {}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Agents must not be supervised from a thread that may end before the process, because their parent-death signal
    /// is bound to the thread that starts them.
    #[error("only the first thread of a process can supervise an agent")]
    NotMainThread,
    /// The agent's processes could not be ended in time.
    #[error("{count} processes did not end within {seconds} s: {examples}")]
    Survivors {
        /// How many are left.
        count: usize,
        /// How long Symphony tried, in seconds.
        seconds: u64,
        /// Some of them, as `pid (name)`.
        examples: String,
    },
    /// The table of processes could not be read.
    #[error("cannot read {}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The lock file could not be opened, created or locked.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process holds the lock: the run is alive.
    #[error("another process holds the lock {}", path.display())]
    LockHeld {
        /// The file.
        path: PathBuf,
    },
    /// The descriptor that was handed over does not belong to the lock file.
    #[error("the lock {} was not handed over: standard input is another file", path.display())]
    LockNotHandedOver {
        /// The file that was expected.
        path: PathBuf,
    },
    /// The log file of a detached process could not be opened.
    #[error("cannot open the log {}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A system call failed.
    #[error("cannot {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}
