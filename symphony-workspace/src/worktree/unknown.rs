//! A branch or a worktree that the database does not know: left by a database that was lost, or made by a person.

use super::broken::refuse_link;
use super::remove::{BranchFate, BranchOutcome, RemoveRequest, Removed};
use crate::error::WorkspaceError;
use crate::repository::Repository;

impl Repository {
    /// Saves what an unknown branch and its worktree hold to rescue refs and removes them, so that new work begins from the
    /// base. None when there is neither. A death in between leaves rescue refs, and the next call goes on.
    ///
    /// # Errors
    /// As [`Repository::remove_worktree`], and [`WorkspaceError::BranchCheckedOut`] when another checkout has the branch.
    /// What could not be saved is where it was.
    pub fn set_unknown_aside(
        &self,
        request: &RemoveRequest<'_>,
    ) -> Result<Option<Removed>, WorkspaceError> {
        let _lock = self.lock()?;
        let path = self.worktree_path(request.key)?;
        refuse_link(&path)?;
        let request = RemoveRequest {
            fate: BranchFate::Delete,
            ..request.clone()
        };
        let mut rescues = Vec::new();
        // a folder that git does not know is moved away when the worktree is made
        let worktree = self.registration_at(&path)?.is_some()
            && self.remove_folder(&request, &path, &mut rescues)?;
        let branch = self.settle_branch(&request, &mut rescues)?;
        if !worktree && branch == BranchOutcome::Absent {
            return Ok(None);
        }
        Ok(Some(Removed {
            worktree,
            rescues,
            branch,
        }))
    }
}
