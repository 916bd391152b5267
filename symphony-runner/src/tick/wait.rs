//! Waiting until runs are over.

use std::time::Duration;

use symphony_core::id::RunId;
use symphony_core::tick::LockState;
use symphony_store::Store;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::process::lock_state;

/// Time between two looks at a run.
const LOOK: Duration = Duration::from_millis(100);

/// Waits until runs are over, exit handling included; calls back now and then.
///
/// # Errors
/// When the database can not be read.
pub fn wait_for(
    installation: &Installation,
    runs: &[RunId],
    mut progress: impl FnMut(&Store) -> Result<(), RunnerError>,
) -> Result<(), RunnerError> {
    let store = installation.open_store()?;
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
    Ok(lock_state(&RunPaths::new(&project.root, id).lock())? == LockState::Held)
}
