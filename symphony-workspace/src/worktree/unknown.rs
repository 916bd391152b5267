//! A branch or a worktree that the database does not know: left from a lost database, or made by a person.

use super::broken::refuse_link;
use super::model::{BranchFate, RemoveRequest};
use super::remove::{BranchOutcome, Removed};
use crate::change::RescueRef;
use crate::error::WorkspaceError;
use crate::repository::{BranchName, Repository};

impl Repository {
    /// Saves an unknown branch and its worktree to rescue refs and removes them, so that new work starts from the base.
    /// Branches below it (`symphony/SYM-1/x`) are treated the same, since git could not create the branch beside them.
    /// `None` when there is neither. A death in between leaves rescue refs, and the next call continues.
    ///
    /// # Errors
    /// As [`Repository::remove_worktree`], and [`WorkspaceError::BranchCheckedOut`] when another checkout has the
    /// branch. What could not be saved stays where it was.
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
        let submodules = self.save_submodules_of(&request, &path)?;
        let mut rescues = Vec::new();
        // A folder that git does not know is moved away when the worktree is created.
        let worktree = self.registration_at(&path)?.is_some()
            && self.remove_folder(&request, &path, &mut rescues)?;
        let below = self.settle_branches_below(&request, &mut rescues)?;
        let branch = self.settle_branch(&request, &mut rescues)?;
        if !worktree && !below && branch == BranchOutcome::Absent {
            return Ok(None);
        }
        Ok(Some(Removed {
            worktree,
            rescues,
            submodules,
            branch,
        }))
    }

    /// Settles the branches that are in the way of the requested one, and returns whether there were any.
    fn settle_branches_below(
        &self,
        request: &RemoveRequest<'_>,
        rescues: &mut Vec<RescueRef>,
    ) -> Result<bool, WorkspaceError> {
        let Some(branch) = request.branch else {
            return Ok(false);
        };
        let prefix = format!("{branch}/");
        let mut names = self.branches()?;
        names.retain(|name| name.starts_with(&prefix));
        for name in &names {
            let below = BranchName::parse(name)?;
            let request = RemoveRequest {
                branch: Some(&below),
                ..request.clone()
            };
            self.settle_branch(&request, rescues)?;
        }
        Ok(!names.is_empty())
    }
}
