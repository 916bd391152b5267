//! Detached worktrees for runs that commit nothing, and for gates on a merge result.

use symphony_core::Timestamp;

use super::broken::{Occupant, refuse_link};
use super::head::mark_start;
use super::key::WorktreeKey;
use super::locks::clear_stale_locks;
use super::model::Worktree;
use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::Repository;

impl Repository {
    /// Creates a detached worktree at a commit. A worktree with the same key from before a crash is reused; its changes
    /// are saved to a rescue ref first, and then removed.
    ///
    /// # Errors
    /// As [`Repository::prepare_worktree`], and [`WorkspaceError::CommitMissing`].
    pub fn create_temporary(
        &self,
        key: &WorktreeKey,
        at: &CommitId,
        now: Timestamp,
    ) -> Result<Worktree, WorkspaceError> {
        let _lock = self.lock()?;
        self.require_commit(at)?;
        let path = self.worktree_path(key)?;
        refuse_link(&path)?;
        let mut recovered = Vec::new();
        match self.find_or_clear(key, &path, now, &mut recovered)? {
            Occupant::Nothing => self.create_at(key, &path, None, at),
            Occupant::Unfinished => {
                let worktree = self.worktree_at(key, &path, None)?;
                clear_stale_locks(&worktree, &mut recovered)?;
                self.complete(&worktree, at)?;
                Ok(worktree)
            }
            Occupant::Whole => {
                let worktree = self.worktree_at(key, &path, None)?;
                self.link_again(&worktree, &mut recovered)?;
                self.reset_to(&worktree, at, now)?;
                mark_start(&worktree, at)?;
                overwrite(&worktree.git, at)?;
                Ok(worktree)
            }
        }
    }
}
