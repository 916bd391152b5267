//! Removes the files of sessions that no run will resume.

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId};
use symphony_store::{Project, RunFilter, Store, StoreError};
use symphony_workspace::remove_deep;

use super::folder::{issue_folder, issues_folder, plans_folder};
use crate::error::RunnerError;
use crate::upkeep::kept::is_old;

/// Removes the sessions on an issue that has ended.
///
/// # Errors
/// When something cannot be removed.
pub(crate) fn remove_sessions_of(project_root: &Path, issue: &IssueId) -> Result<(), RunnerError> {
    remove(&issue_folder(project_root, issue))
}

/// Removes the sessions on issues and plans that have ended, are gone, or had no run for `days` days. Returns what could not
/// be removed.
///
/// # Errors
/// When a folder or the database cannot be read.
pub(crate) fn remove_old_sessions(
    store: &Store,
    project: &Project,
    days: u32,
    now: Timestamp,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    let mut remove_unless = |is_needed: bool, folder: &Path| {
        if !is_needed && let Err(error) = remove(folder) {
            problems.push(error.to_string());
        }
    };
    for (name, folder) in children(&issues_folder(&project.root))? {
        let Ok(id) = IssueId::parse(name) else {
            continue;
        };
        let filter = RunFilter {
            issue: Some(id.clone()),
            limit: Some(1),
            ..RunFilter::default()
        };
        let is_open = match store.issue(&id) {
            Ok(issue) => !issue.state.status().is_terminal(),
            Err(StoreError::NotFound { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        remove_unless(is_in_use(store, &filter, is_open, days, now)?, &folder);
    }
    for (name, folder) in children(&plans_folder(&project.root))? {
        let Ok(id) = PlanId::parse(name) else {
            continue;
        };
        let filter = RunFilter {
            plan: Some(id),
            limit: Some(1),
            ..RunFilter::default()
        };
        remove_unless(is_in_use(store, &filter, true, days, now)?, &folder);
    }
    Ok(problems)
}

/// Returns whether a run may still use the sessions: it is live, or the last one ended not long ago and another one may
/// follow.
fn is_in_use(
    store: &Store,
    filter: &RunFilter,
    is_open: bool,
    days: u32,
    now: Timestamp,
) -> Result<bool, RunnerError> {
    let last = store.runs(filter)?.into_iter().next();
    Ok(last.is_some_and(|run| match run.ended_at {
        None => true,
        Some(ended) => is_open && !is_old(ended, days, now),
    }))
}

fn children(folder: &Path) -> Result<Vec<(String, PathBuf)>, RunnerError> {
    let read = |error| RunnerError::io("read", folder, error);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(read(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(read)?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

fn remove(folder: &Path) -> Result<(), RunnerError> {
    remove_deep(folder)
        .map(drop)
        .map_err(|error| RunnerError::io("remove the sessions in", folder, error))
}
