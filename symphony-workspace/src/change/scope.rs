//! Everything that a worktree changes against its base, committed or not.

use std::collections::BTreeSet;

use super::status::repo_path_text;
use crate::error::WorkspaceError;
use crate::repository::{BranchName, Repository};
use crate::worktree::Worktree;

impl Repository {
    /// Lists every path that differs between a worktree and its merge base with a branch, sorted: committed,
    /// uncommitted and untracked. A change that was taken back does not count, whether it was committed or not. Of a
    /// renamed file both names; copied configuration files and ignored files never.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchMissing`] (the base), [`WorkspaceError::Unrelated`]; else when git fails.
    pub fn changed_paths(
        &self,
        worktree: &Worktree,
        base: &BranchName,
    ) -> Result<Vec<String>, WorkspaceError> {
        let base = self
            .branch_head(base)?
            .ok_or_else(|| WorkspaceError::BranchMissing {
                branch: base.to_string(),
                root: self.root.clone(),
            })?;
        let head = self.head(worktree)?;
        let merge_base = self.reader().merge_base(&base, &head)?;
        let merge_base = merge_base.ok_or_else(|| WorkspaceError::Unrelated {
            base: base.to_string(),
            head: head.to_string(),
        })?;
        let status = self.status(worktree)?;
        let mut paths: BTreeSet<String> = status
            .embedded
            .iter()
            .map(|path| repo_path_text(path))
            .collect();
        // A committed change that the folder takes back is no difference any more: the folder is compared, not each
        // step.
        let now = if status.is_clean() {
            head
        } else {
            self.tree_of_folder(worktree, &status)?
        };
        for file in self.changed_files(&merge_base, &now)? {
            paths.extend(file.old_path);
            paths.insert(file.path);
        }
        Ok(paths.into_iter().collect())
    }
}
