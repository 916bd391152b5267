//! Who may merge a pull request, and what happens to a merge that was cut off.
//!
//! A process that merges has the turn from before the gates of the result until the merge is recorded. The intent of a
//! dead process is settled by whoever takes the turn next: the base branch decides whether the merge is recorded or
//! taken back.

use std::path::PathBuf;

use symphony_core::pull_request::PullRequestOf;
use symphony_store::Project;

use crate::error::RunnerError;
use crate::paths::STATE_DIR;
use crate::process::{ProcessError, RunLock};

/// The turn to merge one pull request.
#[derive(Debug)]
pub(crate) struct MergeTurn {
    _lock: RunLock,
}

impl MergeTurn {
    /// Takes the turn. Returns `None` while another process is merging.
    ///
    /// # Errors
    /// When the lock file cannot be created.
    pub(crate) fn take(project: &Project, of: &PullRequestOf) -> Result<Option<Self>, RunnerError> {
        let folder = merge_folder(project, of);
        std::fs::create_dir_all(&folder)
            .map_err(|error| RunnerError::io("make the folder", &folder, error))?;
        match RunLock::acquire(folder.join("lock")) {
            Ok(lock) => Ok(Some(Self { _lock: lock })),
            Err(ProcessError::LockHeld { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}

/// The folder that all merges of an issue or a plan share, with their lock and the logs of their gates.
pub(crate) fn merge_folder(project: &Project, of: &PullRequestOf) -> PathBuf {
    merges_folder(project).join(of.folder_name())
}

/// The folder of all merges.
pub(super) fn merges_folder(project: &Project) -> PathBuf {
    project.root.join(STATE_DIR).join("merges")
}
