//! Broken states of a worktree. Each is repaired without loss, or refused.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::head::staged_commit;
use super::key::WorktreeKey;
use super::model::{Recovery, Worktree};
use super::registration::{Registration, recorded_path};
use crate::change::RescueRef;
use crate::error::WorkspaceError;
use crate::linux::processes_inside;
use crate::own_file::{read_file, read_text};
use crate::repository::Repository;

/// The reason of the lock that a worktree has until it is complete. Git's own reason is `initializing`.
pub(super) const BEING_MADE: &str = "symphony: being made";

/// The folder, beside the worktrees, for folders that git does not know.
const LEFTOVERS: &str = ".leftover";

/// What is in the place of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occupant {
    /// Nothing is in the way.
    Nothing,
    /// A creation that was interrupted.
    Unfinished,
    /// A registered worktree with its folder.
    Whole,
}

/// Refuses a symbolic link in the place of a worktree, because it would lead git out of the root.
pub(crate) fn refuse_link(path: &Path) -> Result<(), WorkspaceError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => Err(WorkspaceError::Link {
            path: path.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Refuses to touch a folder in which processes work.
pub(super) fn refuse_busy(path: &Path) -> Result<(), WorkspaceError> {
    let pids = processes_inside(path);
    if pids.is_empty() {
        return Ok(());
    }
    Err(WorkspaceError::Busy {
        path: path.to_owned(),
        pids,
    })
}

/// Returns whether the lock of a registration shows that its creation was interrupted.
pub(super) fn is_unfinished(registration: &Registration) -> bool {
    registration
        .locked
        .as_ref()
        .is_some_and(|reason| is_unfinished_reason(reason))
}

/// Returns whether the git folder of a worktree has the lock of an interrupted creation.
pub(super) fn has_unfinished_lock(git_dir: &Path) -> bool {
    read_text(&git_dir.join("locked")).is_ok_and(|text| is_unfinished_reason(text.trim_end()))
}

fn is_unfinished_reason(reason: &str) -> bool {
    reason == BEING_MADE || reason == "initializing"
}

impl Repository {
    /// Finds out what is in the place of a worktree, and clears away what only looks like one.
    pub(super) fn find_or_clear(
        &self,
        key: &WorktreeKey,
        path: &Path,
        now: Timestamp,
        recovered: &mut Vec<Recovery>,
    ) -> Result<Occupant, WorkspaceError> {
        let Some(registration) = self.registration_at(path)? else {
            clear_leftover(key, path, now, recovered)?;
            return Ok(Occupant::Nothing);
        };
        if path.is_dir() {
            if !is_unfinished(&registration) {
                return Ok(Occupant::Whole);
            }
            if !self.take_back(&self.worktree_at(key, path, None)?)? {
                return Ok(Occupant::Unfinished);
            }
            clear_leftover(key, path, now, recovered)?;
            return Ok(Occupant::Nothing);
        }
        let rescue = self.remove_stale(key, path, &registration, now)?;
        recovered.push(Recovery::StaleRegistration { rescue });
        clear_leftover(key, path, now, recovered)?;
        Ok(Occupant::Nothing)
    }

    /// Takes back a creation that was interrupted before git could open the result, and returns whether it was. No one
    /// had access yet, so nothing is lost. The folder stays, with everything in it but git's file.
    pub(super) fn take_back(&self, worktree: &Worktree) -> Result<bool, WorkspaceError> {
        if self.head(worktree).is_ok() {
            return Ok(false);
        }
        discard(&worktree.place().git_dir)?;
        Ok(true)
    }

    /// Removes registrations that were interrupted while git wrote their first files. One without a folder is neither
    /// listed nor pruned, and one with an empty `commondir` makes git fail whenever it lists worktrees. The caller must
    /// hold the lock under which worktrees are made.
    pub(crate) fn clear_cut_off(&self) -> Result<(), WorkspaceError> {
        let folder = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(WorkspaceError::io("list", &folder, source)),
        };
        for entry in entries.flatten() {
            let git_dir = entry.path();
            let is_ours = read_text(&git_dir.join("locked"))
                .is_ok_and(|reason| reason.trim_end() == BEING_MADE);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_cut_off = recorded_path(&git_dir).is_none()
                || fs::metadata(git_dir.join("commondir")).is_ok_and(|file| file.len() == 0);
            if is_folder && is_ours && is_cut_off {
                discard(&git_dir)?;
            }
        }
        Ok(())
    }

    /// Makes the folder of a registration a linked worktree: takes over what a dead run's agent left in a git folder of its
    /// own, or writes a missing `.git` file.
    pub(super) fn link_again(
        &self,
        worktree: &Worktree,
        recovered: &mut Vec<Recovery>,
    ) -> Result<(), WorkspaceError> {
        if self.take_git_folder(worktree)? {
            recovered.push(Recovery::GitFolderTaken);
        }
        restore_git_file(worktree, recovered)
    }

    /// Removes the registration of a missing folder. Commits that no branch has, and what was staged, are saved first.
    pub(super) fn remove_stale(
        &self,
        key: &WorktreeKey,
        path: &Path,
        registration: &Registration,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        let worktree = self.worktree_at(key, path, None)?;
        let rescue = if is_unfinished(registration) {
            None
        } else {
            self.rescue_without_folder(&worktree, registration, now)?
        };
        // An earlier removal has already saved and reported them.
        for saved in self.save_submodules(key, &worktree.place().git_dir, now)? {
            tracing::info!(submodule = saved.name, rescue = %saved.rescue, "its commits were kept");
        }
        // Last: the registration is the only reference to what was just saved, so nothing may be lost by a death before
        // this line.
        self.unregister(path)?;
        Ok(rescue)
    }

    fn rescue_without_folder(
        &self,
        worktree: &Worktree,
        registration: &Registration,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        // Without its branch, there is nothing to compare with.
        let Ok(head) = self.head(worktree) else {
            return Ok(None);
        };
        if let Some(commit) = staged_commit(worktree, &head)? {
            return self.keep(&worktree.key, &commit, now).map(Some);
        }
        if registration.reference.is_none() && !self.is_on_a_branch(&head)? {
            return self.keep(&worktree.key, &head, now).map(Some);
        }
        Ok(None)
    }
}

/// Removes a registration whose creation was interrupted, and the file in its folder that points to it.
fn discard(git_dir: &Path) -> Result<(), WorkspaceError> {
    let git_file = recorded_path(git_dir).map(|folder| folder.join(".git"));
    let leads_here = |file: &PathBuf| {
        read_text(file).is_ok_and(|text| {
            let text = text.trim_end();
            text.is_empty() || text.strip_prefix("gitdir: ").map(Path::new) == Some(git_dir)
        })
    };
    if let Some(file) = git_file.filter(leads_here) {
        fs::remove_file(&file).map_err(|source| WorkspaceError::io("remove", &file, source))?;
    }
    // Last, because the rest is found through it after a crash.
    fs::remove_dir_all(git_dir)
        .map_err(|source| WorkspaceError::io("remove the folder", git_dir, source))
}

/// Moves a folder that git does not know out of the way.
pub(super) fn clear_leftover(
    key: &WorktreeKey,
    path: &Path,
    now: Timestamp,
    recovered: &mut Vec<Recovery>,
) -> Result<(), WorkspaceError> {
    match fs::symlink_metadata(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(WorkspaceError::io("look at", path, source)),
    }
    refuse_link(path)?;
    refuse_busy(path)?;
    // An empty folder has nothing to keep.
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    let to = leftover_place(key, path, now)?;
    fs::rename(path, &to)
        .map_err(|source| WorkspaceError::io("move away the folder", path, source))?;
    recovered.push(Recovery::LeftoverMoved(to));
    Ok(())
}

fn leftover_place(
    key: &WorktreeKey,
    path: &Path,
    now: Timestamp,
) -> Result<PathBuf, WorkspaceError> {
    let folder = path.with_file_name(LEFTOVERS);
    fs::create_dir_all(&folder)
        .map_err(|source| WorkspaceError::io("create the folder", &folder, source))?;
    refuse_link(&folder)?;
    let name = format!("{key}-{}", now.strftime("%Y%m%dT%H%M%SZ"));
    let mut place = folder.join(&name);
    let mut number = 1_u32;
    while place.exists() {
        number += 1;
        place = folder.join(format!("{name}-{number}"));
    }
    Ok(place)
}

/// Writes a missing `.git` file again. Refuses when it is something else than before.
pub(super) fn restore_git_file(
    worktree: &Worktree,
    recovered: &mut Vec<Recovery>,
) -> Result<(), WorkspaceError> {
    let file = worktree.path().join(".git");
    match fs::symlink_metadata(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut text = b"gitdir: ".to_vec();
            text.extend_from_slice(worktree.place().git_dir.as_os_str().as_bytes());
            text.push(b'\n');
            fs::write(&file, text).map_err(|source| WorkspaceError::io("write", &file, source))?;
            recovered.push(Recovery::GitFileRestored);
            Ok(())
        }
        Err(source) => Err(WorkspaceError::io("look at", file, source)),
        Ok(meta) if leads_to_its_git_dir(worktree, &file, &meta) => Ok(()),
        Ok(_) => Err(WorkspaceError::Tampered {
            path: worktree.path().to_owned(),
            what: format!(
                "its `.git` does not lead to {}",
                worktree.place().git_dir.display()
            ),
        }),
    }
}

/// Returns whether a worktree's `.git` is the file that points to its git folder.
pub(super) fn leads_to_its_git_dir(worktree: &Worktree, file: &Path, meta: &fs::Metadata) -> bool {
    meta.is_file() && points_to(file, &worktree.place().git_dir)
}

fn points_to(file: &Path, git_dir: &Path) -> bool {
    let Ok(bytes) = read_file(file) else {
        return false;
    };
    let Some(target) = bytes.strip_prefix(b"gitdir: ") else {
        return false;
    };
    let target = Path::new(std::ffi::OsStr::from_bytes(target.trim_ascii_end()));
    let target = file.parent().unwrap_or(Path::new("/")).join(target);
    target == git_dir
        || target
            .canonicalize()
            .is_ok_and(|target| git_dir.canonicalize().is_ok_and(|real| real == target))
}
