//! One loop per plan: the lock of its rounds.

use std::path::PathBuf;

use symphony_core::id::PlanId;
use symphony_core::tick::LockState;
use symphony_store::Project;

use crate::error::RunnerError;
use crate::paths::STATE_DIR;
use crate::process::{ProcessError, RunLock, lock_state};

/// The held lock of a plan; released when the value is dropped, at the latest with the process.
#[derive(Debug)]
pub(super) struct PlanLock {
    _lock: RunLock,
}

impl PlanLock {
    /// Takes the lock of a plan; `None` if another process has it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn take(project: &Project, plan: &PlanId) -> Result<Option<Self>, RunnerError> {
        let folder = plans_folder(project);
        std::fs::create_dir_all(&folder)
            .map_err(|error| RunnerError::io("make the folder", &folder, error))?;
        match RunLock::acquire(lock_file(project, plan)) {
            Ok(lock) => Ok(Some(Self { _lock: lock })),
            Err(ProcessError::LockHeld { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether a process drives the plan at this moment: a `plan run`, or a tick.
///
/// # Errors
/// When its lock cannot be tested.
pub fn is_plan_driven(project: &Project, plan: &PlanId) -> Result<bool, RunnerError> {
    Ok(lock_state(&lock_file(project, plan))? == LockState::Held)
}

fn lock_file(project: &Project, plan: &PlanId) -> PathBuf {
    plans_folder(project).join(format!("{plan}.lock"))
}

/// The folder of the locks of a project's plans.
pub(super) fn plans_folder(project: &Project) -> PathBuf {
    project.root.join(STATE_DIR).join("plans")
}
