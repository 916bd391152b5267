//! What can go wrong with processes.

use std::io;
use std::path::PathBuf;

/// A failure of starting, watching or ending processes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// This system lacks what Symphony needs to keep an agent's processes together.
    #[error(
        "run an agent on {system}: Symphony refuses to run agents anywhere but on Linux, whose \
         subreaper, pidfds and /proc it needs to end all of their processes"
    )]
    Unsupported {
        /// The system's name.
        system: &'static str,
    },
    /// The program was not found (error class `provider_missing` for an agent).
    #[error("find the program `{program}` in {searched}")]
    ProgramNotFound {
        /// The name or path that was searched.
        program: String,
        /// Where it was searched: the search path, or the path itself.
        searched: String,
    },
    /// The program exists, but is not an executable file.
    #[error("execute {}: it is not an executable file", path.display())]
    ProgramNotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The program was found, but the system did not start it.
    #[error("start {}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Agents must not be supervised from a thread that may end before the process, because their parent-death signal
    /// is bound to the thread that starts them.
    #[error("supervise an agent from a thread other than the process's first")]
    NotMainThread,
    /// The agent's processes could not be ended in time.
    #[error("end {count} processes within {seconds} s: {examples}")]
    Survivors {
        /// How many are left.
        count: usize,
        /// How long Symphony tried, in seconds.
        seconds: u64,
        /// Some of them, as `pid (name)`.
        examples: String,
    },
    /// The table of processes could not be read.
    #[error("read {}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The lock file could not be opened, created or locked.
    #[error("lock {}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process holds the lock: the run is alive.
    #[error("lock {}: another process holds it", path.display())]
    LockHeld {
        /// The file.
        path: PathBuf,
    },
    /// The descriptor that was handed over does not belong to the lock file.
    #[error("take over the lock of {}: standard input is another file", path.display())]
    LockNotHandedOver {
        /// The file that was expected.
        path: PathBuf,
    },
    /// The log file of a detached process could not be opened.
    #[error("open the log {}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}
