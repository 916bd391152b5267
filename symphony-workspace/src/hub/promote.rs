//! The control's side of a hub: bringing a run's result in, and moving the branch of its issue to it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_core::Timestamp;
use symphony_core::id::RunId;

use super::{FETCHED_RESULTS, result_reference};
use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::remote::{Pushed, Remote};
use crate::repository::{Base, BranchName, Expect, Repository, move_ref};
use crate::worktree::{BranchFate, RemoveRequest, WorktreeKey};

/// Why the branch moves, for the reflog.
const WHY: &str = "symphony: the result of a run on another host";

/// Why the ref of what was published moves.
const WHY_PUBLISHED: &str = "symphony: the hub has the base";
/// Where the base is that a hub has.
const PUBLISHED: &str = "refs/symphony/hub/published/";

/// Returns the ref that has what a hub has of a base.
fn published_reference(base: &Base) -> String {
    format!("{PUBLISHED}{}", base.branch)
}

/// A branch to be moved to what a run on another host made.
#[derive(Debug, Clone)]
pub struct PromoteRequest<'a> {
    /// The key of the worktree.
    pub key: &'a WorktreeKey,
    /// The branch.
    pub branch: &'a BranchName,
    /// The branch that decides what counts as merged.
    pub base: &'a BranchName,
    /// Where the run found the branch; `None` if there was none.
    pub start: Option<&'a CommitId>,
    /// The commit that the database has of the run.
    pub commit: &'a CommitId,
    /// The time, for the names of what is saved.
    pub now: Timestamp,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promotion {
    /// The branch is at the commit now. Work of an earlier run on this host was saved in these refs.
    Moved {
        /// Their names.
        rescues: Vec<RescueRef>,
    },
    /// The branch has the commit already.
    Before,
    /// The branch is somewhere else than where the run found it, and does not have the commit: nothing is changed.
    Elsewhere {
        /// Where it is; `None` if it is gone.
        found: Option<CommitId>,
    },
}

impl Repository {
    /// Fetches the result of a run from a hub that is another repository, and returns its commit; `None` if the hub has none.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn fetch_result(
        &self,
        hub: &str,
        environment: &BTreeMap<OsString, OsString>,
        run: &RunId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let kept = format!("{FETCHED_RESULTS}{run}");
        // As a pattern, since a result that is not there is no error.
        let refspec = format!("+{}*:{kept}*", result_reference(run));
        Remote::of_tick(self, hub, environment).mirror(&[refspec])?;
        self.reader().reference(&kept)
    }

    /// Pushes a branch to a hub that is another repository, so that workers find what was brought in. Only the control moves branches there.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn publish_to_hub(
        &self,
        hub: &str,
        environment: &BTreeMap<OsString, OsString>,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<Pushed, WorkspaceError> {
        let remote = Remote::of_tick(self, hub, environment);
        match remote.head(branch)? {
            Some(there) if there == *commit => Ok(Pushed::Done),
            there => remote.push(commit, branch, there.as_ref()),
        }
    }

    /// Returns whether the last push of the base to a hub that is another repository brought it where it is now.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn is_published(&self, base: &Base) -> Result<bool, WorkspaceError> {
        let published = self.reader().reference(&published_reference(base))?;
        Ok(published.as_ref() == Some(&base.commit))
    }

    /// Pushes the base to a hub that is another repository, if it is not where the last such push brought it; `None` if it is. Nothing of the hub is
    /// replaced.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn publish_base(
        &self,
        hub: &str,
        environment: &BTreeMap<OsString, OsString>,
        base: &Base,
    ) -> Result<Option<Pushed>, WorkspaceError> {
        let kept = published_reference(base);
        let before = self.reader().reference(&kept)?;
        if before.as_ref() == Some(&base.commit) {
            return Ok(None);
        }
        let pushed = Remote::of_tick(self, hub, environment).advance(&base.commit, &base.branch)?;
        if pushed == Pushed::Done {
            let expect = before.as_ref().map_or(Expect::Absent, Expect::At);
            move_ref(&self.git, &kept, expect, &base.commit, WHY_PUBLISHED)?;
        }
        Ok(Some(pushed))
    }

    /// Moves the branch of an issue to what a run on another host made, if it is still where the run found it. A worktree that an earlier
    /// run left on this host is removed first, because its files would be those of the old commit; its work is saved.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`] when the result is not here; when a process works in the worktree; when git fails.
    pub fn promote(&self, request: &PromoteRequest<'_>) -> Result<Promotion, WorkspaceError> {
        let PromoteRequest { branch, commit, .. } = request;
        self.require_commit(commit)?;
        let found = self.branch_head(branch)?;
        if let Some(found) = &found
            && self.reader().is_ancestor(commit, found)?
        {
            return Ok(Promotion::Before);
        }
        if found.as_ref() != request.start {
            return Ok(Promotion::Elsewhere { found });
        }
        let rescues = self
            .remove_worktree(&RemoveRequest {
                key: request.key,
                branch: Some(branch),
                base: request.base,
                fate: BranchFate::Keep,
                now: request.now,
            })?
            .rescues;
        let expect = match request.start {
            Some(start) => Expect::At(start),
            None => Expect::Absent,
        };
        match move_ref(&self.git, &branch.reference(), expect, commit, WHY) {
            Ok(()) => Ok(Promotion::Moved { rescues }),
            Err(WorkspaceError::RefMoved { .. }) => Ok(Promotion::Elsewhere {
                found: self.branch_head(branch)?,
            }),
            Err(error) => Err(error),
        }
    }
}
