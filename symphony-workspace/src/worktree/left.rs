//! Temporary worktrees that outlive their run. What an agent committed there is on no branch, and what it did to `.git`
//! may prevent git from removing them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::broken::{clear_leftover, leads_to_its_git_dir, refuse_link};
use super::head::{checked_out_reference, is_start};
use super::key::WorktreeKey;
use super::model::{BranchFate, Recovery, RemoveRequest, Worktree};
use crate::change::RescueRef;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::{BranchName, Repository};

/// The new name of a worktree's `.git` when it is not what git created.
const GIT_ASIDE: &str = ".git.left";

/// What happened to a temporary worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearedTemporary {
    /// Where its work was saved.
    pub rescues: Vec<RescueRef>,
    /// Where the folder is now, if git did not know it and nothing of it could be saved.
    pub moved: Option<PathBuf>,
}

impl Repository {
    /// Saves the checked-out commit of a detached worktree to a rescue ref, unless the worktree started at it, or a
    /// branch or a rescue ref of the worktree has it. It reads nothing in the folder, so it does not matter what was
    /// done there.
    ///
    /// # Errors
    /// When git fails, or the worktree's `HEAD` cannot be read.
    pub fn keep_head(
        &self,
        worktree: &Worktree,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        let head = self.head(worktree)?;
        let on_branch = checked_out_reference(worktree)?.is_some();
        if on_branch || is_start(worktree, &head)? || self.is_on_a_branch(&head)? {
            return Ok(None);
        }
        let folder = format!("refs/symphony/rescue/{}/", worktree.key().as_ref_part());
        let kept = self
            .git
            .command("for-each-ref")
            .arg("--count=1")
            .arg(format!("--points-at={head}"))
            .arg("--format=%(refname)%00")
            .arg(folder)
            .run()?;
        if fields(&kept).next().is_some() {
            return Ok(None);
        }
        self.keep(worktree.key(), &head, now).map(Some)
    }

    /// Removes a temporary worktree after saving everything in it. A folder that git does not know is moved away as a
    /// whole.
    ///
    /// # Errors
    /// As [`Repository::remove_worktree`].
    pub fn clear_temporary(
        &self,
        key: &WorktreeKey,
        base: &BranchName,
        now: Timestamp,
    ) -> Result<ClearedTemporary, WorkspaceError> {
        if let Some(moved) = self.move_unregistered(key, now)? {
            return Ok(ClearedTemporary {
                rescues: Vec::new(),
                moved: Some(moved),
            });
        }
        let removed = self.remove_worktree(&RemoveRequest {
            key,
            branch: None,
            base,
            fate: BranchFate::Keep,
            now,
        })?;
        let submodules = removed.submodules.into_iter().map(|saved| saved.rescue);
        Ok(ClearedTemporary {
            rescues: removed.rescues.into_iter().chain(submodules).collect(),
            moved: None,
        })
    }

    fn move_unregistered(
        &self,
        key: &WorktreeKey,
        now: Timestamp,
    ) -> Result<Option<PathBuf>, WorkspaceError> {
        let _lock = self.lock()?;
        let path = self.worktree_path(key)?;
        refuse_link(&path)?;
        // Checked under the lock: a registered folder is a worktree, whose work `remove_worktree` saves to refs.
        if self.registration_at(&path)?.is_some() {
            return Ok(None);
        }
        let mut recovered = Vec::new();
        clear_leftover(key, &path, now, &mut recovered)?;
        let moved = recovered.into_iter().find_map(|done| match done {
            Recovery::LeftoverMoved(to) => Some(to),
            _ => None,
        });
        Ok(moved)
    }
}

/// Renames whatever is in the place of a worktree's `.git` and does not point to its git folder: git would not remove
/// the worktree, and would treat a repository there as its own. It is then saved with all other files.
pub(super) fn put_git_aside(worktree: &Worktree) -> Result<(), WorkspaceError> {
    let entry = worktree.path().join(".git");
    match fs::symlink_metadata(&entry) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(WorkspaceError::io("look at", &entry, source)),
        Ok(meta) if leads_to_its_git_dir(worktree, &entry, &meta) => return Ok(()),
        Ok(_) => {}
    }
    let aside = free_name(worktree.path());
    fs::rename(&entry, &aside).map_err(|source| WorkspaceError::io("put aside", &entry, source))
}

fn free_name(folder: &Path) -> PathBuf {
    let mut path = folder.join(GIT_ASIDE);
    let mut number = 1_u32;
    while path.symlink_metadata().is_ok() {
        number += 1;
        path = folder.join(format!("{GIT_ASIDE}-{number}"));
    }
    path
}
