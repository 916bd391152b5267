//! Locks and processes: a live run has a lock holder (I2), a run without one has no process (I3).

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::retry::after;
use symphony_core::tick::LockState;
use symphony_store::{Store, StoreError};

use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::process::{is_still_there, lock_state, marked_processes};

/// How long after its claim a run may be without a lock holder: if a tick dies between the claim and the start of the
/// supervisor, the next one takes care of the run.
const START_GRACE_MS: u64 = 60_000;

pub(super) fn check(
    store: &Store,
    now: Timestamp,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    // A run of a pool is locked on its host, if at all: its beats show whether it lives.
    let live = store.live_runs()?.into_iter();
    for run in live.filter(|run| run.pool.is_none()) {
        let is_held = holder(store, &run.id)? == LockState::Held;
        // A run that ended between the two looks is over.
        if !is_held
            && after(run.started_at, START_GRACE_MS) < now
            && store.run_status(&run.id)?.is_live()
            && !store
                .exit_handling(&run.id)?
                .is_some_and(|exit| exit.waits(now))
        {
            let detail = "its lock is free because its supervisor died; `symphony tick` does its exit handling";
            found.push(Violation::new(Invariant::I2, run.id.as_str(), detail));
        }
    }
    for (marker, processes) in marked_processes()? {
        let Ok(id) = RunId::parse(marker) else {
            continue;
        };
        let run = match store.run(&id) {
            // a run of another installation
            Err(StoreError::NotFound { .. }) => continue,
            other => other?,
        };
        // A worker on this machine has it, and holds its lock elsewhere.
        if run.pool.is_some() && run.status.is_live() {
            continue;
        }
        if holder(store, &id)? == LockState::Held {
            continue;
        }
        for process in processes {
            // It may have ended with its run just now.
            if is_still_there(&process)? {
                let detail = format!("process {} ({}) is left of it", process.pid, process.name);
                found.push(Violation::new(Invariant::I3, id.as_str(), detail));
            }
        }
    }
    Ok(())
}

fn holder(store: &Store, id: &RunId) -> Result<LockState, RunnerError> {
    let project = store.project(&store.run(id)?.project)?;
    Ok(lock_state(&RunPaths::new(&project.root, id).lock())?)
}
