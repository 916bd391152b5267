//! Logs of runs that ended long ago (spec: config, `log_retention_days`).

use std::path::PathBuf;

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::tick::LockState;
use symphony_store::{Project, Store, StoreError};

use crate::error::RunnerError;
use crate::paths::{RunPaths, runs_folder};
use crate::process::lock_state;
use crate::resume::remove_old_sessions;
use crate::step_event::StepEvent;
use crate::upkeep::kept::{is_old, kept_since};
use crate::upkeep::leftovers::changed;

/// How many folders are removed at once, so that they do not hold up a tick. The next one removes the others.
pub const OLD_LOGS_MAX: usize = 200;

/// The folder of a run that ended long ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldLogs {
    /// The run.
    pub run: RunId,
    /// Its folder.
    pub folder: PathBuf,
}

/// Returns the folders of a project's runs that ended more than `days` days ago. For an unknown run, the last change of
/// its folder counts.
///
/// # Errors
/// When the folder of runs, or the database, cannot be read.
pub fn old_logs(
    store: &Store,
    project: &Project,
    days: u32,
    now: Timestamp,
) -> Result<Vec<OldLogs>, RunnerError> {
    let runs = runs_folder(&project.root);
    let entries = match std::fs::read_dir(&runs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RunnerError::io("read", runs, error)),
    };
    let mut old = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| RunnerError::io("read", &runs, error))?;
        let name = entry.file_name();
        let Some(run) = name.to_str().and_then(|name| RunId::parse(name).ok()) else {
            continue;
        };
        let ended = match store.run(&run) {
            Ok(run) if run.status.is_live() => None,
            Ok(run) => run.ended_at,
            Err(StoreError::NotFound { .. }) => changed(&entry.path()),
            Err(error) => return Err(error.into()),
        };
        let is_over = ended.is_some_and(|ended| is_old(ended, days, now));
        let lock = RunPaths::new(&project.root, &run).lock();
        // A run may have ended in the database while its supervisor still writes to its logs.
        if is_over && lock_state(&lock)? != LockState::Held {
            let folder = entry.path();
            old.push(OldLogs { run, folder });
        }
    }
    old.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(old)
}

/// Removes folders of old runs. Returns how many were removed, and what could not be.
pub fn remove_logs(old: &[OldLogs]) -> (usize, Vec<String>) {
    let (mut removed, mut problems) = (0, Vec::new());
    for logs in old {
        match std::fs::remove_dir_all(&logs.folder) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => problems.push(format!("remove {}: {error}", logs.folder.display())),
        }
    }
    (removed, problems)
}

/// What was done about the old logs and sessions of a project.
#[derive(Debug)]
pub(crate) struct OldRemoved {
    /// How many runs' logs were removed.
    pub(crate) runs: usize,
    /// Whether no old logs are left for the next time, apart from those that could not be removed.
    pub(crate) is_done: bool,
    /// What could not be removed.
    pub(crate) problems: Vec<String>,
}

/// Removes the old sessions of a project, and the logs of `max` of its old runs at most.
///
/// # Errors
/// When a folder or the database cannot be read.
pub(crate) fn remove_old(
    store: &Store,
    project: &Project,
    days: u32,
    now: Timestamp,
    max: usize,
) -> Result<OldRemoved, RunnerError> {
    let mut old = old_logs(store, project, days, now)?;
    let is_done = old.len() <= max;
    old.truncate(max);
    let (runs, mut problems) = remove_logs(&old);
    problems.extend(remove_old_sessions(store, project, days, now)?);
    Ok(OldRemoved {
        runs,
        is_done,
        problems,
    })
}

/// Returns whether the last clean-up was a day ago.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn is_clean_up_due(store: &Store, now: Timestamp) -> Result<bool, RunnerError> {
    let last = store.last_log_clean_up()?;
    // A clock that was set back must not keep logs for ever.
    Ok(last.is_none_or(|last| last > now || is_old(last, 1, now)))
}

/// Removes old logs and sessions of all projects, once per day. Returns what was done, and what could not be done.
///
/// # Errors
/// When the database cannot be read or written.
pub fn daily_clean_up(
    store: &mut Store,
    days: u32,
    now: Timestamp,
) -> Result<(Vec<StepEvent>, Vec<String>), RunnerError> {
    if !is_clean_up_due(store, now)? {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut events, mut problems) = (Vec::new(), Vec::new());
    // Those of runs on other hosts, which are in the database.
    let mut is_done = store.remove_run_logs(kept_since(days, now))? == 0;
    for project in store.projects()? {
        let removed = remove_old(store, &project, days, now, OLD_LOGS_MAX)?;
        is_done &= removed.is_done;
        if removed.runs > 0 {
            events.push(StepEvent::LogsRemoved {
                project: project.id.clone(),
                runs: removed.runs as u64,
                days: days.into(),
            });
        }
        problems.extend(removed.problems);
    }
    if is_done {
        store.record_log_clean_up(now)?;
    }
    Ok((events, problems))
}
