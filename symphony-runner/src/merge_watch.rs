//! What a merge shares with the code of the change, recorded before its gates run: who kills the merge does not hide what the gates
//! changed. The next merge of the same pull request compares with the record, and so does the next tick.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::config_change::{AtWork, SharedChanges};
use symphony_core::id::RunId;
use symphony_core::outside::BaseNotice;
use symphony_core::pull_request::PullRequestOf;
use symphony_store::{Context, Project, Store};
use symphony_workspace::Repository;

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::merge_turn::MergeTurn;
use crate::paths::{STATE_DIR, write_private};
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
        (installation, project, repository): (&'a Installation, &'a Project, &'a Repository),
        (of, job): (&PullRequestOf, &RunId),
    ) -> Result<Self, RunnerError> {
        let path = record_path(project, of);
        let state = match std::fs::read_to_string(&path) {
            // one that was spoilt is compared with nothing: everything is named
            Ok(text) => serde_json::from_str::<Record>(&text)
                .map_or_else(|_| SharedState::default(), |record| record.state),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                SharedState::at_start(installation, project, repository)?
            }
            Err(error) => return Err(RunnerError::io("read", &path, error)),
        };
        let record = Record {
            of: of.clone(),
            job: job.clone(),
            state,
        };
        let folder = records(project);
        std::fs::create_dir_all(&folder)
            .map_err(|error| RunnerError::io("make the folder", &folder, error))?;
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
        let about = (&self.project.id, of);
        for notice in BaseNotice::of_changes(about, job, AtWork::Gates, &changes) {
            store.note_base(&context, &notice)?;
        }
        let path = record_path(self.project, of);
        std::fs::remove_file(&path).map_err(|error| RunnerError::io("remove", &path, error))?;
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
    for entry in entries {
        let path = entry
            .map_err(|error| RunnerError::io("read the folder", &folder, error))?
            .path();
        let Some(record) = read(&path)? else {
            continue;
        };
        // a merge at work compares by itself
        if MergeTurn::take(project, &record.of)?.is_some() {
            let config = installation.project_config(project)?;
            let repository = open_repository(project, &config)?;
            let watch = MergeWatch {
                installation,
                project,
                repository: &repository,
                record,
            };
            watch.end(store)?;
        }
    }
    Ok(())
}

/// Reads a record; none when it is gone or spoilt, which the next merge reports.
fn read(path: &Path) -> Result<Option<Record>, RunnerError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", path, error)),
    }
}

fn records(project: &Project) -> PathBuf {
    project.root.join(STATE_DIR).join("merging")
}

fn record_path(project: &Project, of: &PullRequestOf) -> PathBuf {
    records(project).join(format!("{}.json", of.folder_name()))
}
