//! Removing a worktree and its branch, without losing anything that exists only there.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use symphony_core::Timestamp;

use super::broken::{is_unfinished, refuse_busy, refuse_link, restore_git_file};
use super::left::put_git_aside;
use super::locks::clear_stale_locks;
use super::model::{BranchFate, RemoveRequest, Worktree};
use crate::agent_git::Note;
use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::deep::{PATH_BYTES_MAX, find_file, remove_deep};
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::left::SavedSubmodule;
use crate::repository::{Repository, RepositoryLock, clear_lock_of_gone, delete_ref};

/// What happened to the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchOutcome {
    /// It did not exist.
    Absent,
    /// It was kept.
    Kept {
        /// How many of its commits are not in the base.
        unmerged: usize,
    },
    /// It was deleted.
    Deleted {
        /// Its last commit.
        head: CommitId,
    },
}

/// What a removal did. A repetition finds nothing, and reports that without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Whether the worktree existed.
    pub worktree: bool,
    /// Where unsaved work, or the deleted branch's commits, were saved.
    pub rescues: Vec<RescueRef>,
    /// Where commits of submodules that only this worktree had were saved.
    pub submodules: Vec<SavedSubmodule>,
    /// What happened to the branch.
    pub branch: BranchOutcome,
}

impl Repository {
    /// Removes a worktree. In case of doubt, nothing is removed.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`] with a live process inside, [`WorkspaceError::GitLocked`] while git is running,
    /// [`WorkspaceError::Link`], [`WorkspaceError::OutOfReach`], [`WorkspaceError::RescueFailed`] when its work could
    /// not be saved (a repository inside it, a full disk). A lock (`git worktree lock`) is no obstacle: the worktrees
    /// are Symphony's, any agent can lock its own, and its contents are saved first.
    pub fn remove_worktree(&self, request: &RemoveRequest<'_>) -> Result<Removed, WorkspaceError> {
        self.remove_under(&self.lock()?, request)
    }

    /// Does the same if no one has the repository's lock: for what can wait better than the caller can.
    ///
    /// # Errors
    /// [`WorkspaceError::LockTimeout`] while another process changes the repository, and those of [`Repository::remove_worktree`].
    pub fn remove_worktree_at_leisure(
        &self,
        request: &RemoveRequest<'_>,
    ) -> Result<Removed, WorkspaceError> {
        self.remove_under(&self.lock_within(Duration::ZERO)?, request)
    }

    fn remove_under(
        &self,
        _lock: &RepositoryLock,
        request: &RemoveRequest<'_>,
    ) -> Result<Removed, WorkspaceError> {
        let path = self.worktree_path(request.key)?;
        refuse_link(&path)?;
        // Everything is saved before anything is removed: the commits of submodules here, the work in the folder inside
        // `remove_folder`, and the branch last, since git refuses to delete one that is checked out.
        let submodules = self.save_submodules_of(request, &path)?;
        let mut rescues = Vec::new();
        let worktree = self.remove_folder(request, &path, &mut rescues)?;
        Failpoint::CleanRemoved.reach();
        let branch = self.settle_branch(request, &mut rescues)?;
        self.forget_copied(request.key)?;
        self.forget_baseline(request.key)?;
        self.forget_set_up(request.key)?;
        self.forget_imported(request.key)?;
        Ok(Removed {
            worktree,
            rescues,
            submodules,
            branch,
        })
    }

    /// Saves the commits of submodules that disappear with a worktree.
    pub(super) fn save_submodules_of(
        &self,
        request: &RemoveRequest<'_>,
        path: &Path,
    ) -> Result<Vec<SavedSubmodule>, WorkspaceError> {
        let Some(git_dir) = self.git_dir_of(path)? else {
            return Ok(Vec::new());
        };
        self.save_submodules(request.key, &git_dir, request.now)
            .map_err(|source| rescue_failed(path, source))
    }

    pub(super) fn remove_folder(
        &self,
        request: &RemoveRequest<'_>,
        path: &Path,
        rescues: &mut Vec<RescueRef>,
    ) -> Result<bool, WorkspaceError> {
        let Some(registration) = self.registration_at(path)? else {
            return remove_unregistered(path);
        };
        if !path.is_dir() {
            rescues.extend(self.remove_stale(request.key, path, &registration, request.now)?);
            return Ok(true);
        }
        refuse_busy(path)?;
        let worktree = self.worktree_at(request.key, path, request.branch)?;
        if is_unfinished(&registration) && self.take_back(&worktree)? {
            return remove_unregistered(path);
        }
        refuse_out_of_reach(path)?;
        match self.take_git_folder(&worktree) {
            // What an agent made of its git folder is saved with all other files.
            Err(WorkspaceError::Tampered { what, .. }) => {
                tracing::warn!(key = %request.key, what, "an agent's git folder cannot be read");
                Note::remove(&worktree.place().git_dir)?;
            }
            taken => drop(taken?),
        }
        put_git_aside(&worktree)?;
        // Git refuses to remove a worktree without it, and an interrupted removal may have removed it.
        restore_git_file(&worktree, &mut Vec::new())?;
        // No one had access to an unfinished worktree, so it has nothing to save.
        if !is_unfinished(&registration) {
            let saved = self.save_all(&worktree, request.now);
            rescues.extend(saved.map_err(|source| match source {
                busy @ (WorkspaceError::Busy { .. } | WorkspaceError::GitLocked { .. }) => busy,
                source => rescue_failed(path, source),
            })?);
        }
        Failpoint::CleanSaved.reach();
        self.unregister(path)?;
        Ok(true)
    }

    /// Removes a worktree and its registration. When git fails, what is left shows whether it succeeded.
    pub(super) fn unregister(&self, path: &Path) -> Result<(), WorkspaceError> {
        let removed = match self.git_worktree_remove(path) {
            // Git uses the whole path of each file. It has unregistered the worktree nevertheless.
            Err(error) if error.is_name_too_long() && path.is_dir() => {
                remove_deep(path).map_err(|source| WorkspaceError::io("remove", path, source))?;
                Err(error)
            }
            removed => removed,
        };
        match removed {
            Err(error) if path.exists() || self.git_dir_of(path)?.is_some() => Err(error),
            _ => Ok(()),
        }
    }

    /// Uses `--force` twice, since an interrupted creation leaves its lock, and an agent may have locked its worktree.
    fn git_worktree_remove(&self, path: &Path) -> Result<Vec<u8>, WorkspaceError> {
        self.git
            .command("worktree")
            .args(["remove", "--force", "--force", "--"])
            .arg(path)
            .slow()
            .run()
    }

    /// Saves uncommitted work, and a head that is on no branch.
    fn save_all(
        &self,
        worktree: &Worktree,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        let mut recovered = Vec::new();
        clear_stale_locks(worktree, &mut recovered)?;
        if let Some(rescue) = self.rescue(worktree, now)? {
            return Ok(Some(rescue));
        }
        self.keep_head(worktree, now)
    }

    pub(super) fn settle_branch(
        &self,
        request: &RemoveRequest<'_>,
        rescues: &mut Vec<RescueRef>,
    ) -> Result<BranchOutcome, WorkspaceError> {
        let Some(branch) = request.branch else {
            return Ok(BranchOutcome::Absent);
        };
        let Some(head) = self.branch_head(branch)? else {
            clear_lock_of_gone(&self.git, &branch.reference())?;
            return Ok(BranchOutcome::Absent);
        };
        let base = self.branch_head(request.base)?;
        let in_base = match &base {
            Some(base) => self.is_merged(&head, base)?,
            None => false,
        };
        let merged = match request.fate {
            BranchFate::DeleteIfRecorded(recorded) if !in_base => {
                head == *recorded || self.is_merged(&head, recorded)?
            }
            _ => in_base,
        };
        let delete = match request.fate {
            BranchFate::Keep => false,
            BranchFate::DeleteIfMerged | BranchFate::DeleteIfRecorded(_) => merged,
            BranchFate::Delete => true,
        };
        if !delete {
            let unmerged = match &base {
                Some(base) => self.commits_ahead(base, &head)?,
                None => 0,
            };
            return Ok(BranchOutcome::Kept { unmerged });
        }
        let reference = branch.reference();
        let holder = self
            .registrations()?
            .into_iter()
            .find(|registration| registration.reference.as_ref() == Some(&reference));
        if let Some(registration) = holder {
            return Err(WorkspaceError::BranchCheckedOut {
                branch: branch.to_string(),
                path: registration.path,
            });
        }
        // Kept before it is deleted: after a death in between, the commits are on both refs, never on none.
        if !merged {
            rescues.push(self.keep(request.key, &head, request.now)?);
        }
        delete_ref(&self.git, &reference, &head)?;
        Ok(BranchOutcome::Deleted { head })
    }
}

fn rescue_failed(path: &Path, source: WorkspaceError) -> WorkspaceError {
    WorkspaceError::RescueFailed {
        path: path.to_owned(),
        source: Box::new(source),
    }
}

/// Refuses when a file is too deep for git to see it, since it could not be saved.
fn refuse_out_of_reach(path: &Path) -> Result<(), WorkspaceError> {
    let found = match find_file(path, PATH_BYTES_MAX) {
        // If a folder may not be read, git reports it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        found => found,
    };
    match found.map_err(|source| WorkspaceError::io("look through", path, source))? {
        None => Ok(()),
        Some(file) => Err(WorkspaceError::OutOfReach {
            path: path.to_owned(),
            depth: file.components().count(),
        }),
    }
}

/// Removes a folder that git does not know only if there is no file in it, since its contents could not be saved
/// anywhere. Folders without files are left by an interrupted removal.
fn remove_unregistered(path: &Path) -> Result<bool, WorkspaceError> {
    let is_empty = path.is_dir() && find_file(path, 0).is_ok_and(|found| found.is_none());
    if is_empty && let Err(source) = remove_deep(path) {
        return Err(WorkspaceError::io("remove", path, source));
    }
    if is_empty {
        return Ok(true);
    }
    match fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(WorkspaceError::io(
            "remove the folder, which git does not know as a worktree,",
            path,
            source,
        )),
    }
}
