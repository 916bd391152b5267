//! The worktree of an issue, ready for a run: created, or found, repaired and updated.

use super::broken::{Occupant, refuse_link};
use super::locks::clear_stale_locks;
use super::model::{BaseMerge, MergeOfBase, Prepared, Recovery, Worktree, WorktreeRequest};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::repository::{BranchName, Repository};

impl Repository {
    /// Prepares a worktree under the repository's lock. Only the live run of the issue may call it.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchBlocked`], [`WorkspaceError::BranchCheckedOut`], [`WorkspaceError::BranchMissing`] (the
    /// base), [`WorkspaceError::Link`], [`WorkspaceError::Busy`], [`WorkspaceError::Tampered`]: states that a person
    /// has to repair. No commit and no uncommitted work is lost in any case.
    pub fn prepare_worktree(
        &self,
        request: &WorktreeRequest<'_>,
    ) -> Result<Prepared, WorkspaceError> {
        let _lock = self.lock()?;
        let base =
            self.branch_head(request.base)?
                .ok_or_else(|| WorkspaceError::BranchMissing {
                    branch: request.base.to_string(),
                    root: self.root.clone(),
                })?;
        let path = self.worktree_path(request.key)?;
        refuse_link(&path)?;
        let mut recovered = Vec::new();
        self.refuse_elsewhere(request.branch, &path)?;
        match self.find_or_clear(request.key, &path, request.now, &mut recovered)? {
            Occupant::Nothing => {
                // The branch comes first: a death before the worktree exists leaves a branch at the base, which the
                // next try uses.
                let head = self.create_branch(request.branch, &base)?;
                Failpoint::WorktreeBranched.reach();
                let worktree = self.create_at(request.key, &path, Some(request.branch), &head)?;
                self.made(worktree, &head, &base, request, recovered)
            }
            Occupant::Unfinished => {
                let head = self.create_branch(request.branch, &base)?;
                let worktree = self.worktree_at(request.key, &path, Some(request.branch))?;
                clear_stale_locks(&worktree, &mut recovered)?;
                self.complete(&worktree, &head)?;
                recovered.push(Recovery::CreationCompleted);
                self.made(worktree, &head, &base, request, recovered)
            }
            Occupant::Whole => {
                let worktree = self.worktree_at(request.key, &path, Some(request.branch))?;
                self.reuse(worktree, &base, request, recovered)
            }
        }
    }

    /// The new worktree of an older branch, whose previous one was removed, may lack the latest base.
    fn made(
        &self,
        worktree: Worktree,
        head: &CommitId,
        base: &CommitId,
        request: &WorktreeRequest<'_>,
        recovered: Vec<Recovery>,
    ) -> Result<Prepared, WorkspaceError> {
        let merged = if head == base {
            MergeOfBase::NotAsked
        } else {
            self.merge_as_asked(&worktree, base, request)?
        };
        Ok(Prepared {
            base_commit: base.clone(),
            worktree,
            created: true,
            base: merged,
            recovered,
        })
    }

    fn merge_as_asked(
        &self,
        worktree: &Worktree,
        base: &CommitId,
        request: &WorktreeRequest<'_>,
    ) -> Result<MergeOfBase, WorkspaceError> {
        match request.merge {
            BaseMerge::Leave => Ok(MergeOfBase::NotAsked),
            BaseMerge::Merge => self.merge_base_in(worktree, request.base, base),
        }
    }

    fn reuse(
        &self,
        worktree: Worktree,
        base: &CommitId,
        request: &WorktreeRequest<'_>,
        mut recovered: Vec<Recovery>,
    ) -> Result<Prepared, WorkspaceError> {
        // Locks first, since every git command below would fail on them; then `.git`, without which git does not find
        // the worktree.
        clear_stale_locks(&worktree, &mut recovered)?;
        self.link_again(&worktree, &mut recovered)?;
        self.return_to_branch(&worktree, request.now, &mut recovered)?;
        let merged = self.merge_as_asked(&worktree, base, request)?;
        Ok(Prepared {
            base_commit: base.clone(),
            worktree,
            created: false,
            base: merged,
            recovered,
        })
    }

    /// Refuses a branch that is checked out elsewhere than at `path`. A checkout whose folder does not exist does not
    /// count.
    fn refuse_elsewhere(
        &self,
        branch: &BranchName,
        path: &std::path::Path,
    ) -> Result<(), WorkspaceError> {
        let reference = branch.reference();
        let other = self.registrations()?.into_iter().find(|registration| {
            registration.reference.as_ref() == Some(&reference)
                && registration.path != path
                && registration.path.exists()
        });
        match other {
            Some(registration) => Err(WorkspaceError::BranchCheckedOut {
                branch: branch.to_string(),
                path: registration.path,
            }),
            None => Ok(()),
        }
    }
}
