//! Creating a worktree.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::broken::{BEING_MADE, has_unfinished_lock, refuse_link};
use super::head::mark_start;
use super::key::WorktreeKey;
use super::model::Worktree;
use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::Place;
use crate::repository::{BranchName, Repository, point_head};

impl Repository {
    /// Returns the folder of a worktree, and creates the folder above it.
    ///
    /// # Errors
    /// As [`Repository::require_worktrees_folder`], and when it cannot be created.
    pub fn worktree_path(&self, key: &WorktreeKey) -> Result<PathBuf, WorkspaceError> {
        self.require_worktrees_folder()?;
        let configured = self.workspaces_dir();
        fs::create_dir_all(&configured)
            .map_err(|source| WorkspaceError::io("create the folder", &configured, source))?;
        let real = configured
            .canonicalize()
            .map_err(|source| WorkspaceError::io("find the folder", &configured, source))?;
        // It was replaced between the two checks.
        if configured.starts_with(&self.root) && real != configured {
            return Err(WorkspaceError::Link { path: configured });
        }
        Ok(real.join(key.as_str()))
    }

    /// Checks that the folder of worktrees exists or can be created. Inside the project, no link may lead elsewhere,
    /// since an agent could have planted it. A folder outside of the project may be a link of the user's.
    ///
    /// # Errors
    /// [`WorkspaceError::NoWorktreesFolder`], with the path at fault, when a file or a link is in its place or in that
    /// of a folder above.
    pub fn require_worktrees_folder(&self) -> Result<(), WorkspaceError> {
        let configured = self.workspaces_dir();
        let Ok(below) = configured.strip_prefix(&self.root) else {
            return match fs::metadata(&configured) {
                Ok(meta) if !meta.is_dir() => {
                    Err(WorkspaceError::NoWorktreesFolder { path: configured })
                }
                _ => Ok(()),
            };
        };
        let mut path = self.root.clone();
        for part in below.components() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(WorkspaceError::NoWorktreesFolder { path }),
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(WorkspaceError::io("find the folder", path, error)),
            }
        }
        Ok(())
    }

    /// Registers a worktree and fills it. If a crash interrupts it, [`Repository::complete`] finishes it.
    pub(super) fn create_at(
        &self,
        key: &WorktreeKey,
        path: &Path,
        branch: Option<&BranchName>,
        at: &CommitId,
    ) -> Result<Worktree, WorkspaceError> {
        let added = self
            .git
            .command("worktree")
            .args(["add", "--detach", "--no-checkout", "--quiet"])
            .args(["--lock", "--reason", BEING_MADE, "--"])
            .arg(path)
            .arg(at.as_str())
            .slow()
            .run();
        // If git died after its effect, the registration exists, and is completed like any other.
        let worktree = match added {
            Ok(_) => self.worktree_at(key, path, branch)?,
            Err(error) => self.being_made(key, path, branch).ok_or(error)?,
        };
        Failpoint::WorktreeRegistered.reach();
        self.complete(&worktree, at)?;
        Ok(worktree)
    }

    /// Returns the worktree that is registered here and not complete yet, if there is one.
    fn being_made(
        &self,
        key: &WorktreeKey,
        path: &Path,
        branch: Option<&BranchName>,
    ) -> Option<Worktree> {
        let worktree = self.worktree_at(key, path, branch).ok()?;
        let is_there = path.is_dir() && has_unfinished_lock(&worktree.place().git_dir);
        // HEAD can be read once both are there: the first thing that git writes, and the last.
        (is_there && self.head(&worktree).is_ok()).then_some(worktree)
    }

    /// Points a registered worktree to its branch, fills it and unlocks it.
    pub(super) fn complete(
        &self,
        worktree: &Worktree,
        at: &CommitId,
    ) -> Result<(), WorkspaceError> {
        if let Some(branch) = worktree.branch() {
            point_head(&worktree.git, branch, "symphony: worktree made")?;
        }
        Failpoint::WorktreeOnBranch.reach();
        if worktree.branch().is_none() {
            mark_start(worktree, at)?;
        }
        overwrite(&worktree.git, at)?;
        Failpoint::WorktreeFilled.reach();
        // Last: until the lock is removed, no one has had access to the worktree, so an interrupted creation can be
        // taken back without loss.
        let unlocked = self
            .git
            .command("worktree")
            .args(["unlock", "--"])
            .arg(worktree.path())
            .run();
        if let Err(error) = unlocked
            && worktree.place().git_dir.join("locked").exists()
        {
            return Err(error);
        }
        Failpoint::WorktreeUnlocked.reach();
        Ok(())
    }

    /// Pins git to a registered worktree.
    pub(super) fn worktree_at(
        &self,
        key: &WorktreeKey,
        path: &Path,
        branch: Option<&BranchName>,
    ) -> Result<Worktree, WorkspaceError> {
        let git_dir = self
            .git_dir_of(path)?
            .ok_or_else(|| WorkspaceError::WorktreeMissing {
                path: path.to_owned(),
            })?;
        Ok(Worktree {
            key: key.clone(),
            branch: branch.cloned(),
            git: self.git.at(Place {
                git_dir,
                common_dir: self.common_dir().to_owned(),
                work_tree: path.to_owned(),
            }),
        })
    }

    /// Returns the user's own checkout as a place where agents work. Symphony itself neither commits nor resets there.
    pub fn user_checkout(&self) -> Worktree {
        Worktree {
            key: WorktreeKey::of("."),
            branch: None,
            git: self.git.clone(),
        }
    }

    /// Opens an existing worktree without changing anything.
    ///
    /// # Errors
    /// [`WorkspaceError::WorktreeMissing`] when it is not registered, its folder does not exist or its creation was
    /// interrupted, [`WorkspaceError::Link`] when a link is in its place.
    pub fn worktree(
        &self,
        key: &WorktreeKey,
        branch: Option<&BranchName>,
    ) -> Result<Worktree, WorkspaceError> {
        let path = self.worktree_path(key)?;
        refuse_link(&path)?;
        if !path.is_dir() {
            return Err(WorkspaceError::WorktreeMissing { path });
        }
        let worktree = self.worktree_at(key, &path, branch)?;
        // No one had access to a worktree whose creation was interrupted, so missing files there were never written.
        if has_unfinished_lock(&worktree.place().git_dir) {
            return Err(WorkspaceError::WorktreeMissing { path });
        }
        Ok(worktree)
    }
}
