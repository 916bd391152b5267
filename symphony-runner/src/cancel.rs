//! Ending a live run because a human says so: exit handling included, before anything else is done to its issue.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, RunId};
use symphony_core::run::Run;
use symphony_core::tick::LockState;
use symphony_store::{Context, RunFilter, Store};
use symphony_workspace::Failpoint;

use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::process::lock_state;

/// How long the end of a run is waited for: a supervisor asks once a pulse, gives its agent ten seconds, and commits.
const END_WAIT_MAX: Duration = Duration::from_mins(1);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Ends the live run of an issue, if there is one, and waits for its exit handling.
///
/// # Errors
/// When the run does not end within a minute.
pub fn end_run_of(store: &mut Store, issue: &IssueId) -> Result<Option<Run>, RunnerError> {
    let filter = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    let live = store.runs(&filter)?.into_iter().next();
    live.map(|run| end_run(store, &run.id)).transpose()
}

/// Ends a live run and waits for its exit handling. A run whose supervisor died is left to the next tick.
///
/// # Errors
/// When the run is over already, or does not end within a minute.
pub fn end_run(store: &mut Store, id: &RunId) -> Result<Run, RunnerError> {
    let run = store.request_cancel(&Context::human(Timestamp::now()), id)?;
    Failpoint::CancelRequested.reach();
    let project = store.project(&run.project)?;
    let lock = RunPaths::new(&project.root, id).lock();
    let begun = Instant::now();
    loop {
        if lock_state(&lock)? != LockState::Held {
            let run = store.run(id)?;
            if run.status.is_live() {
                return Err(RunnerError::refused(format!(
                    "the supervisor of run {id} died: `symphony tick` does its exit handling, then try again"
                )));
            }
            return Ok(run);
        }
        if begun.elapsed() > END_WAIT_MAX {
            return Err(RunnerError::StillAlive {
                run: id.clone(),
                seconds: END_WAIT_MAX.as_secs(),
            });
        }
        std::thread::sleep(LOOK);
    }
}
