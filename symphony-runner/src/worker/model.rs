//! What a worker is given, and what it does.

use std::path::PathBuf;

use symphony_core::id::RunId;
use symphony_core::placement::{Host, Pool};

/// What a worker did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerNews {
    /// It took a run and started its supervisor.
    Started {
        /// The run.
        run: RunId,
        /// What it works on.
        on: String,
    },
    /// It started the exit handling of a run whose supervisor had died.
    Finishing {
        /// The run.
        run: RunId,
    },
    /// It started a run that this host had begun, and that had no supervisor.
    StartedAgain {
        /// The run.
        run: RunId,
    },
    /// It ended a supervisor whose run is another host's.
    EndedZombie {
        /// The run.
        run: RunId,
    },
    /// What kept it from taking runs is over.
    TakesAgain,
    /// Something failed; the next round tries again.
    Problem {
        /// What, in words.
        text: String,
    },
}

/// Whether a round takes new runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// As many as there are free slots.
    Yes,
    /// None: the worker drains.
    No,
}

/// What a look at a run found.
#[derive(Debug)]
pub(super) enum Looked {
    /// Nothing is to be done.
    Fine,
    /// Its exit handling waits for the next try, so it has no slot.
    Waits,
    /// Something was done.
    Did(WorkerNews),
}

/// What a worker is for.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// The pool whose runs it takes.
    pub pool: Pool,
    /// The name of this host.
    pub host: Host,
    /// How many runs it has at most.
    pub slots: u32,
    /// The folder of its clones.
    pub data: PathBuf,
}

/// How long a worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// It takes runs.
    Told,
    /// It takes no more, and ends when its last one has.
    Drained,
    /// It ends at once. Its supervisors go on.
    Now,
}
