//! Waiting for runs to end.

use std::time::{Duration, Instant};

use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use symphony_core::run::Run;
use symphony_core::tick::LockState;
use symphony_core::watchdog::Watch;
use symphony_store::{Project, RunFilter, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::lock_state;
use crate::watchdog::{end_stuck, finish_dead, look_at_run, suspect};

/// Time between two checks of a run.
const LOOK: Duration = Duration::from_millis(20);

/// Time between two checks of whether supervisors make progress.
const WATCH: Duration = Duration::from_millis(500);

/// Waits until runs have ended, including exit handling and the gates that it starts. Calls back now and then.
///
/// # Errors
/// When the database cannot be read.
pub fn wait_for(
    installation: &Installation,
    runs: &[RunId],
    mut progress: impl FnMut(&Store) -> Result<(), RunnerError>,
) -> Result<(), RunnerError> {
    let store = installation.require_store()?;
    let mut watched = Instant::now();
    loop {
        let mut alive = Vec::new();
        for run in runs {
            alive.extend(alive_run(installation, &store, run)?);
        }
        progress(&store)?;
        if alive.is_empty() {
            return Ok(());
        }
        if watched.elapsed() >= WATCH {
            for (run, project) in alive.iter().filter(|(run, _)| run.pool.is_none()) {
                watch_run(installation, run, project);
            }
            watched = Instant::now();
        }
        std::thread::sleep(LOOK);
    }
}

/// Checks a supervisor as a tick does: where no tick runs, the caller would wait for ever. What cannot be done now is
/// left to the next check or a tick.
fn watch_run(installation: &Installation, run: &Run, project: &Project) {
    let paths = RunPaths::new(&project.root, &run.id);
    let look = |config: Option<&ProjectConfig>| {
        let limits = installation.config.watchdog.limits_of_supervisor(config);
        look_at_run(&paths, &limits)
    };
    let seen = match look(None) {
        // A project's configuration can only raise limits, so it is read only when a supervisor seems late.
        Ok(Watch::Suspect(_) | Watch::Stuck(_)) => {
            look(installation.project_config(project).ok().as_ref())
        }
        seen => seen,
    };
    let done = seen.and_then(|seen| match seen {
        Watch::InTime => Ok(()),
        Watch::Suspect(suspicion) => suspect(&paths, &suspicion).map(drop),
        Watch::Stuck(stuck) => {
            if end_stuck(&paths, &run.id, &stuck)?.is_some() {
                finish_dead(installation, project, run)?;
            }
            Ok(())
        }
    });
    if let Err(error) = done {
        tracing::warn!(run = %run.id, %error, "the supervisor of a run makes no progress");
    }
}

/// Returns the run, or the run of gates that follows it, if its supervisor is still there. A live run without one has
/// crashed, and waiting for it would never end; the next tick does its exit handling.
fn alive_run(
    installation: &Installation,
    store: &Store,
    id: &RunId,
) -> Result<Option<(Run, Project)>, RunnerError> {
    let run = store.run(id)?;
    let project = store.project(&run.project)?;
    if let Some(pool) = &run.pool {
        let is_awaited = run.status.is_live() && is_looked_after(installation, store, &run, pool)?;
        return Ok(is_awaited.then_some((run, project)));
    }
    let is_held = |id: &RunId| -> Result<bool, RunnerError> {
        Ok(lock_state(&RunPaths::new(&project.root, id).lock())? == LockState::Held)
    };
    if is_held(id)? {
        return Ok(Some((run, project)));
    }
    // its supervisor starts the gates of the pull request that it opened before it gives up its lock
    let Some(issue) = run.target.issue() else {
        return Ok(None);
    };
    let filter = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    let live = store.runs(&filter)?.into_iter().next();
    match live.filter(|live| live.agent == AgentType::Gates) {
        Some(gates) if is_held(&gates.id)? => Ok(Some((gates, project))),
        _ => Ok(None),
    }
}

/// Returns whether a host takes care of a run of a pool, or one may soon. Otherwise only a tick ends it, and the caller makes none.
fn is_looked_after(
    installation: &Installation,
    store: &Store,
    run: &Run,
    pool: &Pool,
) -> Result<bool, RunnerError> {
    let lease = installation.lease();
    if run.host.is_some() {
        let silent = store.silent(lease)?;
        return Ok(silent.iter().all(|silent| silent.run != run.id));
    }
    let workers = store.workers()?;
    Ok(workers
        .iter()
        .any(|seen| seen.worker.pool == *pool && seen.takes_runs(lease)))
}
