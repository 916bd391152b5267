//! Worktrees of ended issues, in the clones of a worker's host: no run will use them again.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId};
use symphony_store::{RunFilter, Store, StoreError};
use symphony_workspace::{BranchFate, BranchName, RemoveRequest, WorktreeKey};

use super::round::Round;
use crate::error::RunnerError;
use crate::repository::open_repository;
use crate::upkeep::clean_up::recorded_merge;

/// Time between two looks. A worktree is in no one's way, and looking at all takes a while.
const PAUSE: Duration = Duration::from_hours(1);
/// How many worktrees are removed at once, so that runs do not wait for their supervisors meanwhile. The next round removes the others.
const WORKTREES_MAX: usize = 5;

impl Round<'_> {
    /// Removes worktrees of ended issues. What no commit of the base and no result has is saved below `refs/symphony/rescue/` first, as the
    /// control does with its own.
    pub(super) fn remove_finished(&mut self, store: &Store) {
        let pause = self.installation.shorter_in_tests(PAUSE);
        if self.tidied.is_some_and(|tidied| tidied.elapsed() < pause) {
            return;
        }
        let mut removed = 0;
        for project in self.installation.cloned_projects() {
            match self.remove_finished_of(store, &project, &mut removed) {
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(%error, %project, "worktrees of ended issues stay for now");
                }
            }
        }
        // More may be left: they are removed in the next round, and not in an hour.
        self.tidied = (removed < WORKTREES_MAX).then(Instant::now);
    }

    fn remove_finished_of(
        &self,
        store: &Store,
        id: &ProjectId,
        removed: &mut usize,
    ) -> Result<(), RunnerError> {
        let local = self.installation.localize(store, id)?;
        let config = local.installation.project_config(&local.project)?;
        let Ok(entries) = std::fs::read_dir(&config.workspaces_dir) else {
            return Ok(());
        };
        let mut open = None;
        for entry in entries.flatten() {
            let Some(issue) = issue_of(&entry.file_name()) else {
                continue;
            };
            if *removed >= WORKTREES_MAX || !has_ended(store, &issue)? {
                continue;
            }
            let repository = match &mut open {
                Some(repository) => repository,
                open => open.insert(open_repository(&local.project, &config)?),
            };
            let recorded = recorded_merge(store, &issue)?;
            let done = repository.remove_worktree(&RemoveRequest {
                key: &WorktreeKey::of(issue.as_str()),
                branch: Some(&BranchName::of_issue(&issue)),
                base: &repository.base()?.branch,
                fate: recorded
                    .as_ref()
                    .map_or(BranchFate::Delete, BranchFate::DeleteIfRecorded),
                now: Timestamp::now(),
            });
            match done {
                Ok(done) => {
                    *removed += 1;
                    for rescue in &done.rescues {
                        tracing::warn!(%issue, %rescue, "work that was not handed in is kept here");
                    }
                }
                // A process may still work in it.
                Err(error) => tracing::warn!(%issue, %error, "its worktree stays for now"),
            }
        }
        Ok(())
    }
}

/// Returns the issue whose worktree a folder is; `None` for a run's temporary one.
fn issue_of(folder: &std::ffi::OsStr) -> Option<IssueId> {
    IssueId::parse(folder.to_str()?).ok()
}

/// Returns whether an issue has ended, and no run of it is at work: one whose issue was cancelled still saves what its agent did.
fn has_ended(store: &Store, issue: &IssueId) -> Result<bool, RunnerError> {
    let status = match store.issue(issue) {
        Ok(issue) => issue.state.status(),
        Err(StoreError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let live = RunFilter {
        issue: Some(issue.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    Ok(status.is_terminal() && store.runs(&live)?.is_empty())
}
