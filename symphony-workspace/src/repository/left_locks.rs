//! Locks that a dead git left, and that no other step of Symphony would find.
//!
//! Git deletes a branch before it removes the locks that it took to do so: the branch's own and that of the packed
//! refs. Any other lock is found and judged by the next step that changes what it protects, but nothing changes a
//! deleted branch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::git_lock::SHARED_LOCK_AGE_MIN;

use super::open::Repository;
use super::own_branches::OWN_BRANCHES;
use crate::error::WorkspaceError;
use crate::git::{Cleared, clear_lock, is_left, locks_below};
use crate::identity::is_own_branch;

/// A lock that a dead git left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftLock {
    /// The file.
    pub path: PathBuf,
    /// The deleted branch; `None` for the lock of the packed refs.
    pub branch: Option<String>,
}

impl Repository {
    /// Lists the locks that a dead git left when it deleted one of Symphony's branches.
    ///
    /// # Errors
    /// When a lock or a branch cannot be read.
    pub fn left_locks(&self) -> Result<Vec<LeftLock>, WorkspaceError> {
        self.left_for(Duration::ZERO)
    }

    /// Removes [`left_locks`](Self::left_locks), and returns those that it removed.
    ///
    /// # Errors
    /// As [`left_locks`](Self::left_locks), and [`WorkspaceError::GitLocked`] when someone has taken one meanwhile.
    pub fn clear_left_locks(&self) -> Result<Vec<LeftLock>, WorkspaceError> {
        let _lock = self.lock()?;
        self.clear(self.left_locks()?)
    }

    /// Removes those that are as old as a lock must be that a person's git also takes. The caller must hold the
    /// repository's lock.
    pub(super) fn clear_old_locks(&self) -> Result<(), WorkspaceError> {
        self.clear(self.left_for(SHARED_LOCK_AGE_MIN)?).map(drop)
    }

    fn left_for(&self, age_min: Duration) -> Result<Vec<LeftLock>, WorkspaceError> {
        let mut left = self.locks_of_gone_branches()?;
        let path = self.common_dir().join("packed-refs.lock");
        if path.exists() {
            left.push(LeftLock { path, branch: None });
        }
        let mut old = Vec::new();
        for lock in left {
            if is_left(self.git.place(), &lock.path, age_min)? {
                old.push(lock);
            }
        }
        Ok(old)
    }

    fn locks_of_gone_branches(&self) -> Result<Vec<LeftLock>, WorkspaceError> {
        let branches = self.common_dir().join("refs/heads");
        let mut found = Vec::new();
        for path in locks_below(&branches.join(OWN_BRANCHES)) {
            let branch = branch_of(&branches, &path).filter(|branch| is_own_branch(branch));
            if let Some(branch) = branch
                && !self.reader().has(&format!("refs/heads/{branch}"))?
            {
                let branch = Some(branch);
                found.push(LeftLock { path, branch });
            }
        }
        Ok(found)
    }

    fn clear(&self, left: Vec<LeftLock>) -> Result<Vec<LeftLock>, WorkspaceError> {
        let mut removed = Vec::new();
        for lock in left {
            if clear_lock(self.git.place(), &lock.path)? == Cleared::Removed {
                removed.push(lock);
            }
        }
        Ok(removed)
    }
}

/// Returns the branch that a lock belongs to.
fn branch_of(branches: &Path, lock: &Path) -> Option<String> {
    let name = lock.strip_prefix(branches).ok()?.to_str()?;
    name.strip_suffix(".lock").map(str::to_owned)
}
