//! Looks at the supervisor of a run, and ends it if it is stuck.

use std::path::Path;

use serde::{Deserialize, Serialize};
use symphony_core::watchdog::{Stuck, Suspicion, Watch, WatchLimits, watch};
use symphony_workspace::Failpoint;

use super::record::{moment, read_record};
use crate::error::RunnerError;
use crate::paths::{RunPaths, write_private};
use crate::process::{EndedHolder, end_supervisors, lock_state};
use symphony_core::id::RunId;
use symphony_core::tick::LockState;

/// Most bytes of a suspicion file that are read.
const FILE_BYTES_MAX: u64 = 16 * 1024;

/// What the looks at a process have found, in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SuspicionFile {
    pub(super) suspicion: Suspicion,
    /// Set before the process is killed: whoever does the exit handling reports why it was needed.
    pub(super) ended: Option<Stuck>,
}

impl SuspicionFile {
    /// Reads the file; `None` if it is missing or unreadable.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let is_small = path
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX);
        let text = is_small.then(|| symphony_workspace::read_own_text(path).ok())??;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, path: &Path) -> Result<(), RunnerError> {
        let text = serde_json::to_string(self).expect("a suspicion has string keys only");
        write_private(path, &text)
    }
}

/// Looks at the supervisor that holds the lock of a run.
///
/// # Errors
/// When the boot is unknown.
pub fn look_at_run(paths: &RunPaths, limits: &WatchLimits) -> Result<Watch, RunnerError> {
    let record = read_record(&paths.lock());
    let earlier = earlier_suspicion(&paths.suspicion());
    Ok(watch(record.as_ref(), earlier.as_ref(), &moment()?, limits))
}

/// Keeps a suspicion for the next look; returns false if it was kept before.
///
/// # Errors
/// When it cannot be written: the next look starts over.
pub fn suspect(paths: &RunPaths, suspicion: &Suspicion) -> Result<bool, RunnerError> {
    keep(&paths.suspicion(), suspicion)
}

pub(crate) fn keep(path: &Path, suspicion: &Suspicion) -> Result<bool, RunnerError> {
    if SuspicionFile::read(path).is_some_and(|file| file.suspicion == *suspicion) {
        return Ok(false);
    }
    let file = SuspicionFile {
        suspicion: suspicion.clone(),
        ended: None,
    };
    file.write(path)?;
    Ok(true)
}

/// Returns what an earlier look found suspicious.
pub(crate) fn earlier_suspicion(path: &Path) -> Option<Suspicion> {
    SuspicionFile::read(path).map(|file| file.suspicion)
}

/// Kills the supervisor of a run that is stuck, after recording why. The run's lock is free then, and its exit handling
/// is due. Returns `None`, and kills nothing, if the supervisor made progress since the look or another one has taken
/// its place: a tick and someone who waits for the run may both find it stuck, and the slower one must not kill what
/// the other started.
///
/// # Errors
/// When the supervisor's process cannot be found, or it does not end.
pub fn end_stuck(
    paths: &RunPaths,
    run: &RunId,
    stuck: &Stuck,
) -> Result<Option<EndedHolder>, RunnerError> {
    let lock = paths.lock();
    if !stuck.is_still(read_record(&lock).as_ref(), &moment()?) {
        return Ok(None);
    }
    let path = paths.suspicion();
    if let Some(file) = SuspicionFile::read(&path) {
        let file = SuspicionFile {
            ended: Some(stuck.clone()),
            ..file
        };
        // The reason can be lost, the end cannot.
        if let Err(error) = file.write(&path) {
            tracing::warn!(%error, "the reason for the end of a supervisor was not noted");
        }
    }
    Failpoint::WatchdogNoted.reach();
    let ended = end_supervisors(run, &lock)?;
    if lock_state(&lock)? == LockState::Held {
        return Err(RunnerError::refused(format!(
            "its supervisor {}, and {}",
            stuck.words(),
            if ended.pids.is_empty() {
                "no process was found that is its supervisor"
            } else {
                "another process holds its lock"
            }
        )));
    }
    Failpoint::WatchdogKilled.reach();
    Ok(Some(ended))
}
