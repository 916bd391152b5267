//! What a merge shares with the code of the change, recorded before its gates run: who kills the merge does not hide what the gates
//! changed. The next merge of the same pull request compares with the record, and so does the next tick.

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

/// What is recorded.
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
    /// Records the state before the gates of a merge run. Where an earlier merge of the same pull request was killed, its record
    /// counts: what its gates changed has not been reported yet. The caller has the turn at merging it.
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
            // what its gates left behind may still change something
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
        // a folder in its place could not be replaced
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

    /// Notes what changed for a person, and removes the record.
    ///
    /// # Errors
    /// When the state cannot be read, or the database not be written: the record stays.
    pub(crate) fn end(self, store: &mut Store) -> Result<SharedChanges, RunnerError> {
        let Record { of, job, state } = &self.record;
        let changes = state.changes(self.installation, self.project, self.repository)?;
        let context = Context::system(Timestamp::now());
        let project = &self.project.id;
        for notice in BaseNotice::of_changes(project, Some(of), job, AtWork::Gates, &changes) {
            store.note_base(&context, &notice)?;
        }
        remove(&record_path(self.project, of))?;
        Ok(changes)
    }
}

/// Notes what changed during merges of a project that were killed.
///
/// # Errors
/// When a record cannot be read, the state neither, or the database not be written.
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
        // any other is just being written
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

/// Does it for one record.
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
    // a merge at work compares by itself
    let Some(_turn) = MergeTurn::take(project, &of)? else {
        return Ok(());
    };
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

/// Reads a record; none when there is none. One that was spoilt is compared with nothing, so that everything is named.
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

/// Makes a record of the name of its file.
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

/// Removes what is in the place of a record.
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
