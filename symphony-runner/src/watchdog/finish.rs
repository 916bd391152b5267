//! What follows after a supervisor's end: its processes are ended, and another supervisor does the exit handling.

use symphony_core::Timestamp;
use symphony_core::run::Run;
use symphony_store::Project;

use super::look::SuspicionFile;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::{DetachedSupervisor, ProcessError, RunLock};
use crate::supervise::{SuperviseMode, launch_supervisor};
use crate::tick::end_strays_of;

/// Returns why a supervisor was ended by force; `None` if it was not.
pub fn what_ended(paths: &RunPaths) -> Option<String> {
    let stuck = SuspicionFile::read(&paths.suspicion())?.ended?;
    Some(format!("its supervisor {} and was ended", stuck.words()))
}

/// Ends the processes that a dead supervisor left and starts another one for the exit handling, as a tick does. `None`
/// if another process is already doing that.
///
/// # Errors
/// When a process survives, or the supervisor cannot be started: the next tick tries again.
pub fn finish_dead(
    installation: &Installation,
    project: &Project,
    run: &Run,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    let lock = match RunLock::acquire(RunPaths::new(&project.root, &run.id).lock()) {
        Ok(lock) => lock,
        Err(ProcessError::LockHeld { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    end_strays_of(project, run, Timestamp::now())?;
    launch_supervisor(installation, project, &run.id, lock, SuperviseMode::Finish).map(Some)
}
