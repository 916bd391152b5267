//! Worktrees of ended issues, in the clones of a worker's host: no run will use them again.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId};
use symphony_store::{RunFilter, Store, StoreError};
use symphony_workspace::{
    BranchFate, BranchName, RemoveRequest, Repository, WorkspaceError, WorktreeKey,
};

use super::round::Round;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::upkeep::clean_up::recorded_merge;

/// Time between two looks. With what builds left there, worktrees can fill a disk.
const PAUSE: Duration = Duration::from_mins(5);
/// Time between two looks while some are left.
const PAUSE_BETWEEN: Duration = Duration::from_secs(5);
/// Time after which one that could not be removed is tried again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_hours(1);
/// How many worktrees are removed at once, so that runs do not wait for their supervisors meanwhile. The next look removes the others.
const WORKTREES_MAX: usize = 5;

/// What is left after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    Some,
}

impl Round<'_> {
    /// Removes worktrees of ended issues. What no commit of the base and no result has is saved below `refs/symphony/rescue/` first, as the
    /// control does with its own.
    pub(super) fn remove_finished(&mut self, store: &Store) {
        if self.tidying.due.is_some_and(|due| Instant::now() < due) {
            return;
        }
        let again = self.installation.shorter_in_tests(PAUSE_AFTER_FAILURE);
        self.tidying.failed.retain(|_, at| at.elapsed() < again);
        let mut tries = 0;
        let mut pause = PAUSE;
        for project in self.installation.cloned_projects() {
            match self.remove_finished_of(store, &project, &mut tries) {
                Ok(Left::Nothing) => {}
                Ok(Left::Some) => pause = PAUSE_BETWEEN,
                Err(error) => {
                    tracing::warn!(%error, %project, "worktrees of ended issues stay for now");
                }
            }
        }
        self.tidying.due = Some(Instant::now() + self.installation.shorter_in_tests(pause));
    }

    fn remove_finished_of(
        &mut self,
        store: &Store,
        id: &ProjectId,
        tries: &mut usize,
    ) -> Result<Left, RunnerError> {
        let local = self.installation.localize(store, id)?;
        let config = local.installation.project_config(&local.project)?;
        let Ok(entries) = std::fs::read_dir(&config.workspaces_dir) else {
            return Ok(Left::Nothing);
        };
        let mut open = None;
        for entry in entries.flatten() {
            let issue = issue_of(&entry.file_name());
            let Some(issue) = issue.filter(|issue| !self.tidying.failed.contains_key(issue)) else {
                continue;
            };
            if !has_ended(store, &issue)? {
                continue;
            }
            if *tries >= WORKTREES_MAX {
                return Ok(Left::Some);
            }
            *tries += 1;
            let repository = match &mut open {
                Some(repository) => repository,
                open => open.insert(open_repository(&local.project, &config)?),
            };
            match remove(store, repository, &issue) {
                Ok(()) => {}
                // A run is being prepared, for which this worker must not wait.
                Err(RunnerError::Workspace(WorkspaceError::LockTimeout { .. })) => {
                    return Ok(Left::Some);
                }
                // A process may still work in it.
                Err(error) => {
                    tracing::warn!(%issue, %error, "its worktree stays for now");
                    self.tidying.failed.insert(issue, Instant::now());
                }
            }
        }
        Ok(Left::Nothing)
    }
}

fn remove(store: &Store, repository: &Repository, issue: &IssueId) -> Result<(), RunnerError> {
    let recorded = recorded_merge(store, issue)?;
    let done = repository.remove_worktree_at_leisure(&RemoveRequest {
        key: &WorktreeKey::of(issue.as_str()),
        branch: Some(&BranchName::of_issue(issue)),
        base: &repository.base()?.branch,
        fate: recorded
            .as_ref()
            .map_or(BranchFate::Delete, BranchFate::DeleteIfRecorded),
        now: Timestamp::now(),
    })?;
    for rescue in &done.rescues {
        tracing::warn!(%issue, %rescue, "work that was not handed in is kept here");
    }
    Ok(())
}

/// Returns the issue whose worktree a folder is; `None` for a run's temporary one.
fn issue_of(folder: &std::ffi::OsStr) -> Option<IssueId> {
    IssueId::parse(folder.to_str()?).ok()
}

/// Returns whether an issue has ended or is gone, and no run of it is at work: one whose issue was cancelled still saves what its agent did.
fn has_ended(store: &Store, issue: &IssueId) -> Result<bool, RunnerError> {
    let is_over = match store.issue(issue) {
        Ok(issue) => issue.state.status().is_terminal(),
        // It was deleted, as only one that has ended can be.
        Err(StoreError::NotFound { .. }) => true,
        Err(error) => return Err(error.into()),
    };
    let live = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    Ok(is_over && store.runs(&live)?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_issue_has_ended_and_was_not_merged() {
        let store = Store::open_in_memory().unwrap();
        let deleted = IssueId::parse("SYM-7").unwrap();
        assert!(has_ended(&store, &deleted).unwrap());
        assert_eq!(recorded_merge(&store, &deleted).unwrap(), None);
    }
}
