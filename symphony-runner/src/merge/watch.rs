//! State outside of the checkout, recorded before the gates of a merge run, so that a gate that kills the merge cannot
//! hide what it changed. The next merge of the same pull request compares with the record, and so does the next tick.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::config_change::{AtWork, SharedChanges};
use symphony_core::id::{IssueId, PlanId, RunId};
use symphony_core::outside::BaseNotice;
use symphony_core::pull_request::PullRequestOf;
use symphony_store::{Context, Project, Store, StoreError};
use symphony_workspace::Repository;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::merge::turn::MergeTurn;
use crate::paths::{STATE_DIR, write_private};
use crate::process::sweep_marked;
use crate::repository::open_repository;
use crate::shared_state::SharedState;

/// The record in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    of: PullRequestOf,
    job: RunId,
    state: SharedState,
}

/// The shared state while the gates of a merge run.
#[derive(Debug)]
pub(crate) struct MergeWatch<'a> {
    installation: &'a Installation,
    project: &'a Project,
    repository: &'a Repository,
    record: Record,
}

impl<'a> MergeWatch<'a> {
    /// Records the state before the gates of a merge run. If an earlier merge of the same pull request was killed, its
    /// record is kept, since what its gates changed has not been reported yet. The caller has the turn to merge it.
    ///
    /// # Errors
    /// When the state cannot be read or recorded.
    pub(crate) fn begin(
        installation: &'a Installation,
        project: &'a Project,
        repository: &'a Repository,
        of: &PullRequestOf,
        job: &RunId,
    ) -> Result<Self, RunnerError> {
        let path = record_path(project, of);
        let state = if let Some(earlier) = read(&path)? {
            // Processes that its gates left may still be changing something.
            sweep_marked(&earlier.job)?;
            earlier.state
        } else {
            SharedState::at_start(installation, project, repository)?
        };
        let record = Record {
            of: of.clone(),
            job: job.clone(),
            state,
        };
        let folder = records(project);
        std::fs::create_dir_all(&folder)
            .map_err(|error| RunnerError::io("make the folder", &folder, error))?;
        // A folder in its place could not be replaced by the file.
        remove(&path)?;
        let text = serde_json::to_string(&record).expect("a record has string keys only");
        write_private(&path, &text)?;
        Ok(Self {
            installation,
            project,
            repository,
            record,
        })
    }

    /// Adds a notice for each change, and removes the record.
    ///
    /// # Errors
    /// When the state cannot be read or the database cannot be written. Then the record is kept.
    pub(crate) fn end(self, store: &mut Store) -> Result<SharedChanges, RunnerError> {
        let Record { of, job, state } = &self.record;
        let changes = state.changes(self.installation, self.project, self.repository)?;
        let context = Context::system(Timestamp::now());
        let project = &self.project.id;
        for notice in BaseNotice::of_changes(project, Some(of), job, AtWork::Gates, &changes) {
            store.note_base(&context, &notice)?;
        }
        // Removed last: after a death in between, the next merge or tick finds the record and compares again.
        remove(&record_path(self.project, of))?;
        Ok(changes)
    }
}

/// Adds notices about what changed during killed merges of a project.
///
/// # Errors
/// When a record or the state cannot be read, or the database cannot be written.
pub(crate) fn note_killed_merges(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
) -> Result<(), RunnerError> {
    let folder = records(project);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RunnerError::io("read the folder", &folder, error)),
    };
    let mut problem = None;
    for entry in entries {
        let path = entry
            .map_err(|error| RunnerError::io("read the folder", &folder, error))?
            .path();
        // Any other file is still being written.
        let is_record = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if !is_record {
            continue;
        }
        if let Err(error) = note_killed_merge(installation, store, project, &path) {
            problem = Some(error);
        }
    }
    problem.map_or(Ok(()), Err)
}

/// Handles one record.
fn note_killed_merge(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    path: &Path,
) -> Result<(), RunnerError> {
    let Some(Record { of, .. }) = read(path)? else {
        return Ok(());
    };
    if path != record_path(project, &of) || !is_known(store, &of)? {
        tracing::debug!(path = %path.display(), "a record of a merge refers to an unknown pull request");
        return remove(path);
    }
    // A merge in progress makes the comparison itself.
    let Some(_turn) = MergeTurn::take(project, &of)? else {
        return Ok(());
    };
    // Read again under the turn: the merge that had it until now may have reported its changes and removed the record.
    let Some(record) = read(path)? else {
        return Ok(());
    };
    sweep_marked(&record.job)?;
    let config = installation.project_config(project)?;
    let repository = open_repository(project, &config)?;
    let watch = MergeWatch {
        installation,
        project,
        repository: &repository,
        record,
    };
    watch.end(store)?;
    Ok(())
}

/// Reads a record, or returns `None` if there is none. A damaged one is replaced by one that differs from everything,
/// so that every change is named.
fn read(path: &Path) -> Result<Option<Record>, RunnerError> {
    let text = match symphony_workspace::read_own_text(path) {
        Ok(text) => text,
        Err(error) => match error.kind() {
            ErrorKind::NotFound => return Ok(None),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => String::new(),
            _ => return Err(RunnerError::io("read", path, error)),
        },
    };
    Ok(serde_json::from_str(&text).ok().or_else(|| spoilt(path)))
}

/// Makes a record from the name of its file.
fn spoilt(path: &Path) -> Option<Record> {
    let name = path.file_stem()?.to_str()?;
    let of = match name.strip_prefix("plan-") {
        Some(plan) => PullRequestOf::from(PlanId::parse(plan).ok()?),
        None => PullRequestOf::from(IssueId::parse(name).ok()?),
    };
    Some(Record {
        of,
        job: RunId::parse(uuid::Uuid::now_v7().to_string()).ok()?,
        state: SharedState::spoilt(),
    })
}

fn is_known(store: &mut Store, of: &PullRequestOf) -> Result<bool, RunnerError> {
    let found = match of {
        PullRequestOf::Issue(issue) => store.issue(issue).map(drop),
        PullRequestOf::Plan(plan) => store.plan(plan).map(drop),
    };
    match found {
        Ok(()) => Ok(true),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes the file or folder at the path of a record.
fn remove(path: &Path) -> Result<(), RunnerError> {
    let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let removed = if is_folder {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(RunnerError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

fn records(project: &Project) -> PathBuf {
    project.root.join(STATE_DIR).join("merging")
}

fn record_path(project: &Project, of: &PullRequestOf) -> PathBuf {
    records(project).join(format!("{}.json", of.folder_name()))
}
