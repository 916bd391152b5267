//! Runs whose files were never cleaned up, because their supervisor died, or the tick that was about to claim them.
//!
//! A run is noted in `.symphony/unfinished/` before any of its files is created, and the note is removed once its files
//! are cleaned up. So the time to find leftovers depends on the number of live runs, not of all runs ever made.

use std::path::Path;
use std::time::SystemTime;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::RunId;
use symphony_core::tick::{Leftover, LeftoverOwner, LockState};
use symphony_store::{Project, Store, StoreError};

use crate::error::RunnerError;
use crate::paths::{RunPaths, unfinished_folder};
use crate::process::lock_state;

/// A run whose files have not been cleaned up: it is live, or a process died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedRun {
    /// The run.
    pub run: RunId,
    /// The state of its lock.
    pub lock: LockState,
    /// When the note was made.
    pub since: Timestamp,
}

/// Returns the runs of a project whose files have not been cleaned up, ordered by id.
///
/// # Errors
/// When the notes or a lock cannot be read.
pub(crate) fn unfinished_runs(project: &Project) -> Result<Vec<UnfinishedRun>, RunnerError> {
    let folder = unfinished_folder(&project.root);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RunnerError::io("read", folder, error)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| RunnerError::io("read", &folder, error))?;
        let name = entry.file_name();
        let Some(run) = name.to_str().and_then(|name| RunId::parse(name).ok()) else {
            continue;
        };
        // It was cleaned up meanwhile.
        let Some(since) = changed(&entry.path()) else {
            continue;
        };
        let lock = lock_state(&RunPaths::new(&project.root, &run).lock())?;
        runs.push(UnfinishedRun { run, lock, since });
    }
    runs.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(runs)
}

/// Returns when a file or folder was last changed; `None` when it does not exist.
pub(crate) fn changed(path: &Path) -> Option<Timestamp> {
    let modified: SystemTime = path.symlink_metadata().ok()?.modified().ok()?;
    let since_epoch = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since_epoch.as_millis()).ok()?).ok()
}

/// Determines who owns the files of unfinished runs, without those of live runs.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn whose(
    store: &Store,
    project: &Project,
    config: Option<&ProjectConfig>,
    unfinished: Vec<UnfinishedRun>,
) -> Result<Vec<Leftover>, RunnerError> {
    let mut leftovers = Vec::new();
    for UnfinishedRun { run, lock, since } in unfinished {
        // Read after the lock: a lock that was free before does not belong to a run that is being claimed now.
        let owner = match (store.run_status(&run), config) {
            (Ok(status), _) if status.is_live() => continue,
            (Ok(_), Some(config)) => left_files(config),
            // It is not known whether prompts are kept; a later tick may know.
            (Ok(_), None) => continue,
            (Err(StoreError::NotFound { .. }), _) => LeftoverOwner::Unclaimed,
            (Err(error), _) => return Err(error.into()),
        };
        leftovers.push(Leftover {
            run,
            project: project.id.clone(),
            owner,
            lock,
            since,
        });
    }
    Ok(leftovers)
}

/// Returns what happens to the files of an ended run.
pub(crate) const fn left_files(config: &ProjectConfig) -> LeftoverOwner {
    if config.keep_run_files {
        LeftoverOwner::Kept
    } else {
        LeftoverOwner::Ended
    }
}
