//! Starting a supervisor as a separate process.

use std::ffi::OsString;
use std::path::Path;

use symphony_core::id::RunId;
use symphony_core::watchdog::Step;
use symphony_store::Project;

use super::DISK_WAIT_MAX;
use crate::environment::supervisor_environment;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::{DetachedLaunch, DetachedSupervisor, RunLock};
use crate::watchdog::StepLog;

/// What a supervisor is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperviseMode {
    /// The whole run.
    Run,
    /// The exit handling of a run whose supervisor died.
    Finish,
}

/// Starts the supervisor of a run, and hands over the run's lock.
///
/// # Errors
/// When it cannot be started. Then the lock is free.
pub(crate) fn launch_supervisor(
    installation: &Installation,
    project: &Project,
    run: &RunId,
    lock: RunLock,
    mode: SuperviseMode,
) -> Result<DetachedSupervisor, RunnerError> {
    let finish = (mode == SuperviseMode::Finish).then(|| "--finish".into());
    launch(installation, project, run, lock, finish)
}

/// Starts the supervisor of a run in which a person works in `terminal`, and hands over the run's lock.
///
/// # Errors
/// As [`launch_supervisor`].
pub(crate) fn launch_session(
    installation: &Installation,
    project: &Project,
    run: &RunId,
    lock: RunLock,
    terminal: &Path,
) -> Result<DetachedSupervisor, RunnerError> {
    let terminal = ["--terminal".into(), terminal.into()];
    launch(installation, project, run, lock, terminal)
}

fn launch(
    installation: &Installation,
    project: &Project,
    run: &RunId,
    lock: RunLock,
    options: impl IntoIterator<Item = OsString>,
) -> Result<DetachedSupervisor, RunnerError> {
    // Until the supervisor records its own first step. It may have to wait for a full disk first.
    let steps = StepLog::of(&lock, installation.config.watchdog.step_timeout_ms);
    let limit = installation.config.watchdog.step_timeout_ms.duration();
    steps.enter_for(Step::Start, limit.saturating_add(DISK_WAIT_MAX));
    drop(steps);
    let mut arguments = installation.arguments();
    arguments.extend(["supervise", "--run", run.as_str()].map(Into::into));
    arguments.extend(options);
    if let Some(data) = installation.worker_data() {
        arguments.extend(["--worker-data".into(), data.as_os_str().to_owned()]);
    }
    let launch = DetachedLaunch {
        executable: installation.executable.clone(),
        arguments,
        directory: project.root.clone(),
        log: RunPaths::new(&project.root, run).supervisor_log(),
        environment: Some(supervisor_environment(&installation.environment)),
        lock,
    };
    Ok(launch.spawn()?)
}
