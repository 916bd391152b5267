//! What the configuration says of runs on other hosts: who places them, and what a worker keeps where.

use std::path::PathBuf;

use crate::closed_set::closed_set;

closed_set!(
    /// What gives out the runs of a pool.
    PlacementKind, "placement", {
        /// The database: the claimed run is the entry that a worker takes.
        Queue = "queue",
        /// A Temporal service: each run is an activity that waits there for a worker.
        Temporal = "temporal",
    }
);

/// The folders of a worker on its host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Where its clones of projects are; `None` where nothing names one and the user has no home folder.
    pub data_dir: Option<PathBuf>,
    /// Where it finds the values of secrets, a file for each, unless systemd hands them over.
    pub secrets_dir: Option<PathBuf>,
}
