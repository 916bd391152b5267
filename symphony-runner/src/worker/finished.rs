//! Worktrees of ended issues, in the clones of a worker's host: no run will use them again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId};
use symphony_store::{RunFilter, Store, StoreError};
use symphony_workspace::{
    BranchFate, BranchName, RemoveRequest, Repository, WorkspaceError, WorktreeKey,
};

use super::chore::Chore;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::upkeep::clean_up::recorded_merge;

/// Time between two looks. With what builds left there, worktrees can fill a disk.
const PAUSE: Duration = Duration::from_mins(5);
/// Time between two looks while some are left.
const PAUSE_BETWEEN: Duration = Duration::from_secs(5);
/// Time after which one that could not be removed is tried again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_hours(1);

/// The removal of worktrees of ended issues. Git looks through a worktree first, and with what builds left there that takes minutes, in which
/// a round of the worker would give no signs of life.
#[derive(Debug)]
pub(super) struct Removal {
    chore: Chore<Look>,
    /// Worktrees that could not be removed, and when.
    failed: BTreeMap<IssueId, Instant>,
}

/// A look for such worktrees.
#[derive(Debug, Default)]
struct Look {
    failed: BTreeMap<IssueId, Instant>,
    /// Whether some wait for a run that is being prepared.
    has_left_some: bool,
}

impl Removal {
    pub(super) fn new() -> Self {
        Self {
            chore: Chore::new("removal", Duration::ZERO),
            failed: BTreeMap::new(),
        }
    }

    /// Begins a look if it is due and the last one is over. It waits for nothing.
    pub(super) fn look(&mut self, installation: &Installation) {
        if let Some(look) = self.chore.ended(Look::default) {
            let pause = if look.has_left_some {
                PAUSE_BETWEEN
            } else {
                PAUSE
            };
            self.failed = look.failed;
            self.chore.put_off(installation.shorter_in_tests(pause));
        }
        if !self.chore.is_due() {
            return;
        }
        let again = installation.shorter_in_tests(PAUSE_AFTER_FAILURE);
        self.failed.retain(|_, at| at.elapsed() < again);
        let mut look = Look {
            failed: self.failed.clone(),
            has_left_some: false,
        };
        let own = installation.clone();
        let begun = self.chore.begin(move || {
            look.remove_finished(&own);
            look
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "worktrees of ended issues stay for now: a thread cannot be started");
            self.chore.put_off(installation.shorter_in_tests(PAUSE));
        }
    }
}

impl Look {
    /// Removes worktrees of ended issues. What no commit of the base and no result has is saved below `refs/symphony/rescue/` first, as the
    /// control does with its own.
    fn remove_finished(&mut self, installation: &Installation) {
        let store = match installation.worker_store() {
            Ok(store) => store,
            Err(error) => {
                let error = error.with_causes();
                tracing::warn!(%error, "worktrees of ended issues stay for now");
                return;
            }
        };
        for project in installation.cloned_projects() {
            if let Err(error) = self.remove_finished_of(installation, &store, &project) {
                tracing::warn!(%error, %project, "worktrees of ended issues stay for now");
            }
        }
    }

    fn remove_finished_of(
        &mut self,
        installation: &Installation,
        store: &Store,
        id: &ProjectId,
    ) -> Result<(), RunnerError> {
        let local = installation.localize(store, id)?;
        let config = local.installation.project_config(&local.project)?;
        let Ok(entries) = std::fs::read_dir(&config.workspaces_dir) else {
            return Ok(());
        };
        let mut open = None;
        for entry in entries.flatten() {
            let issue = issue_of(&entry.file_name());
            let Some(issue) = issue.filter(|issue| !self.failed.contains_key(issue)) else {
                continue;
            };
            if !has_ended(store, &issue)? {
                continue;
            }
            let repository = match &mut open {
                Some(repository) => repository,
                open => open.insert(open_repository(&local.project, &config)?),
            };
            match remove(store, repository, &issue) {
                Ok(()) => {}
                // A run is being prepared, which must not wait.
                Err(RunnerError::Workspace(WorkspaceError::LockTimeout { .. })) => {
                    self.has_left_some = true;
                    return Ok(());
                }
                // A process may still work in it.
                Err(error) => {
                    tracing::warn!(%issue, %error, "its worktree stays for now");
                    self.failed.insert(issue, Instant::now());
                }
            }
        }
        Ok(())
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
