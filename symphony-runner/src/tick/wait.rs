//! Waiting until runs are over.

use std::time::Duration;

use symphony_core::agent::AgentType;
use symphony_core::id::RunId;
use symphony_core::tick::LockState;
use symphony_store::{RunFilter, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::lock_state;

/// Time between two looks at a run.
const LOOK: Duration = Duration::from_millis(100);

/// Waits until runs are over, exit handling and the gates that it starts included; calls back now and then.
///
/// # Errors
/// When the database can not be read.
pub fn wait_for(
    installation: &Installation,
    runs: &[RunId],
    mut progress: impl FnMut(&Store) -> Result<(), RunnerError>,
) -> Result<(), RunnerError> {
    let store = installation.require_store()?;
    loop {
        let mut live = false;
        for run in runs {
            live |= is_alive(&store, run)?;
        }
        progress(&store)?;
        if !live {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Says whether a run is live or its supervisor still there. A live run without one has crashed: waiting for it would
/// never end, the next tick finishes it.
fn is_alive(store: &Store, id: &RunId) -> Result<bool, RunnerError> {
    let run = store.run(id)?;
    let project = store.project(&run.project)?;
    let is_held = |id: &RunId| -> Result<bool, RunnerError> {
        Ok(lock_state(&RunPaths::new(&project.root, id).lock())? == LockState::Held)
    };
    if is_held(id)? {
        return Ok(true);
    }
    // its supervisor starts the gates of the pull request that it opened before it gives up its lock
    let Some(issue) = run.target.issue() else {
        return Ok(false);
    };
    let filter = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    let live = store.runs(&filter)?.into_iter().next();
    match live.filter(|live| live.agent == AgentType::Gates) {
        Some(gates) => is_held(&gates.id),
        None => Ok(false),
    }
}
