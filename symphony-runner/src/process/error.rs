//! What can go wrong with processes.

use std::io;
use std::path::PathBuf;

/// A failure of starting, watching or ending processes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// This system lacks what keeps an agent's processes together.
    #[error(
        "run an agent on {system}: Symphony refuses to run agents anywhere but on Linux, whose \
         subreaper, pidfds and /proc it needs to end all of their processes"
    )]
    Unsupported {
        /// The system's name.
        system: &'static str,
    },
    /// The program is nowhere to be found (error class `provider_missing` for an agent).
    #[error("find the program `{program}` in {searched}")]
    ProgramNotFound {
        /// What was asked for.
        program: String,
        /// Where it was looked for: the search path, or the path itself.
        searched: String,
    },
    /// The program is there, but is no file that may be executed.
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
        /// Why.
        source: io::Error,
    },
    /// Agents were to be supervised from a thread that may end before the process: their
    /// parent-death signal is bound to the thread that starts them.
    #[error("supervise an agent from a thread other than the process's first")]
    NotMainThread,
    /// The agent's processes could not be ended in time.
    #[error("end {count} processes within {seconds} s: {examples}")]
    Survivors {
        /// How many are left.
        count: usize,
        /// How long it was tried.
        seconds: u64,
        /// Some of them, as `pid (name)`.
        examples: String,
    },
    /// The table of processes could not be read.
    #[error("read {}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The lock file could not be opened, made or locked.
    #[error("lock {}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process holds the lock: the run is alive.
    #[error("lock {}: another process holds it", path.display())]
    LockHeld {
        /// The file.
        path: PathBuf,
    },
    /// The descriptor that was handed over is not that of the lock file.
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
        /// Why.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
}
