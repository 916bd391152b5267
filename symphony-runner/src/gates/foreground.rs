//! Checkouts that belong to no run but to a command in the foreground, such as a merge or a trial.

use std::path::Path;

use symphony_core::id::RunId;
use symphony_core::tick::LeftoverOwner;

use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::process::RunLock;

/// A job of a foreground command. It is protected against its own death like a run: a note that is written first, a
/// lock that is held, and an id that marks its processes. To the next tick, a killed job looks like a run that was
/// never claimed, and is cleaned up the same way.
#[derive(Debug)]
pub struct ForegroundJob {
    id: RunId,
    /// `None` once its traces are left to the next tick.
    paths: Option<RunPaths>,
    lock: Option<RunLock>,
}

impl ForegroundJob {
    /// Starts a job in the project with this root.
    ///
    /// # Errors
    /// When its files cannot be written.
    pub fn begin(project_root: &Path) -> Result<Self, RunnerError> {
        let id = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
        let paths = RunPaths::new(project_root, &id);
        paths.create()?;
        let lock = RunLock::acquire(paths.lock())?;
        Ok(Self {
            id,
            paths: Some(paths),
            lock: Some(lock),
        })
    }

    /// Ends the job early. The next tick cleans up what it made, as after a crash.
    pub fn leave(mut self) {
        self.paths = None;
    }

    /// Returns the id that marks its processes and names its checkout.
    pub fn id(&self) -> &RunId {
        &self.id
    }
}

impl Drop for ForegroundJob {
    fn drop(&mut self) {
        drop(self.lock.take());
        let Some(paths) = &self.paths else {
            return;
        };
        if let Err(error) = paths.tidy(LeftoverOwner::Unclaimed) {
            tracing::warn!(%error, "the next tick removes the folder of a job that is over");
        }
    }
}
