//! Creating a private clone at a commit.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use super::anchor::Anchor;
use super::beside::Beside;
use super::git_entries::GitFolder;
use super::settings::config_text;
use super::tracked::{Tracked, files_of};
use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::copy::{CopyReport, copy_into};
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::{Git, Place, copy_shallow};
use crate::repository::{Repository, tree_of};
use crate::worktree::{WorktreeKey, refuse_link};

/// The folders that git requires before it accepts a folder as a repository.
pub(crate) const FOLDERS: &[&str] = &[
    "objects/info",
    "objects/pack",
    "refs/heads",
    "refs/tags",
    "info",
];

/// A private clone with one commit checked out.
#[derive(Debug)]
pub struct Pristine {
    git: Git,
    key: WorktreeKey,
    commit: CommitId,
    /// Its folder and its git folder, as they were created.
    anchors: [Anchor; 2],
    /// Its configuration as it was created. Commands that run there may change the file.
    settings: String,
    tracked: Mutex<Tracked>,
    /// What was copied into it.
    copied: Mutex<Vec<PathBuf>>,
    beside: Mutex<Beside>,
    git_folder: Mutex<GitFolder>,
}

impl Pristine {
    /// Returns its folder.
    pub fn path(&self) -> &Path {
        self.git.work_tree()
    }

    /// Returns the commit that was checked out.
    pub fn commit(&self) -> &CommitId {
        &self.commit
    }

    pub(super) fn key(&self) -> &WorktreeKey {
        &self.key
    }

    pub(super) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    pub(super) fn settings(&self) -> &str {
        &self.settings
    }

    pub(super) fn tracked(&self) -> MutexGuard<'_, Tracked> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn git_folder(&self) -> MutexGuard<'_, GitFolder> {
        self.git_folder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn copied(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Repository {
    /// Checks out a commit in a private clone below the folder of worktrees. Anything in its place, such as the clone
    /// of a dead process, is removed first.
    ///
    /// The clone has the repository's tags and its base branch, so that version numbers derived from tags are right. It
    /// has no remote, no hooks and no exclude file.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`], [`WorkspaceError::ObjectsNotFetched`] in a partial clone,
    /// [`WorkspaceError::Link`] when a link is in its place; otherwise when it cannot be written.
    pub fn create_pristine(
        &self,
        key: &WorktreeKey,
        at: &CommitId,
    ) -> Result<Pristine, WorkspaceError> {
        self.require_commit(at)?;
        self.require_filters()?;
        self.remove_pristine(key)?;
        let made = self.make_pristine(key, at);
        if made.is_err() {
            // The caller does not know of it, so no one else would remove it.
            if let Err(error) = self.remove_pristine(key) {
                tracing::warn!(%key, %error, "a private clone that could not be made stays");
            }
        }
        made
    }

    fn make_pristine(&self, key: &WorktreeKey, at: &CommitId) -> Result<Pristine, WorkspaceError> {
        let path = self.worktree_path(key)?;
        let files = files_of(&self.git, at)?;
        self.finish_pristine(key, at, path, files, |git| overwrite(git, at))
    }

    /// Gives a folder a git folder of its own, and the files of a commit by `write_files`. They are those that
    /// [`files_of`] lists.
    pub(crate) fn finish_pristine<E: From<WorkspaceError>>(
        &self,
        key: &WorktreeKey,
        at: &CommitId,
        path: PathBuf,
        files: Vec<PathBuf>,
        write_files: impl FnOnce(&Git) -> Result<(), E>,
    ) -> Result<Pristine, E> {
        let git_dir = path.join(".git");
        self.lay_out(&git_dir, at)?;
        let settings = config_text(&git_dir, self.common_dir(), at.is_sha256());
        write(&git_dir.join("config"), settings.as_bytes())?;
        write(&git_dir.join("packed-refs"), &self.refs_to_copy()?)?;
        let git = self.git.at(Place {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree: path,
        });
        write_files(&git)?;
        // Recorded before a command of the project can run here: afterwards nothing in the folder could serve as a
        // reference.
        let tracked = Tracked::of(git.work_tree(), files);
        let git_folder = git.work_tree().join(".git");
        let anchor = |path: &Path| {
            Anchor::of(path).map_err(|source| WorkspaceError::io("open", path, source))
        };
        let anchors = [anchor(git.work_tree())?, anchor(&git_folder)?];
        Ok(Pristine {
            git,
            key: key.clone(),
            commit: at.clone(),
            anchors,
            settings,
            tracked: Mutex::new(tracked),
            copied: Mutex::default(),
            beside: Mutex::default(),
            git_folder: Mutex::default(),
        })
    }

    /// Copies the project's configuration files into a pristine checkout, as for agents: from the project's root, never
    /// from an agent's folder.
    ///
    /// # Errors
    /// As [`Repository::copy_config_files`].
    pub fn copy_into_pristine(&self, pristine: &Pristine) -> Result<CopyReport, WorkspaceError> {
        let report = copy_into(self, pristine.path())?;
        pristine.copied().extend(report.copied.iter().cloned());
        Ok(report)
    }

    /// Removes a pristine checkout with everything in it. Returns whether it existed.
    ///
    /// Nothing is saved: no one works in it, and the repository has the commit.
    ///
    /// # Errors
    /// [`WorkspaceError::Link`] when a link is in its place; otherwise when something cannot be removed.
    pub fn remove_pristine(&self, key: &WorktreeKey) -> Result<bool, WorkspaceError> {
        let path = self.worktree_path(key)?;
        refuse_link(&path)?;
        // First, because what a dead process left is found through the checkout.
        self.remove_scratch(key)?;
        remove_deep(&path).map_err(|source| WorkspaceError::io("remove", &path, source))
    }

    /// Returns the tree of a commit. Two commits with the same tree have the same files.
    ///
    /// # Errors
    /// When the repository does not have the commit.
    pub fn tree_of(&self, commit: &CommitId) -> Result<CommitId, WorkspaceError> {
        tree_of(&self.git, commit)
    }

    /// Returns the tags as a private clone gets them.
    ///
    /// # Errors
    /// When git fails.
    pub fn tags(&self) -> Result<Vec<u8>, WorkspaceError> {
        self.refs_of(&["refs/tags"])
    }

    /// Creates the git folder of a private clone, without a configuration.
    pub(super) fn lay_out(&self, git_dir: &Path, at: &CommitId) -> Result<(), WorkspaceError> {
        self.write_folders(git_dir, at)
            .map_err(|source| WorkspaceError::io("make the private clone", git_dir, source))?;
        copy_shallow(self.common_dir(), git_dir)
    }

    fn write_folders(&self, git_dir: &Path, at: &CommitId) -> io::Result<()> {
        borrow_objects(git_dir, self.common_dir())?;
        fs::write(git_dir.join("HEAD"), format!("{at}\n"))
    }

    /// Returns the tags and the base branch in the format of a `packed-refs` file.
    fn refs_to_copy(&self) -> Result<Vec<u8>, WorkspaceError> {
        let base = self.base().ok().map(|base| base.branch.reference());
        let patterns: Vec<&str> = base.as_deref().into_iter().chain(["refs/tags"]).collect();
        self.refs_of(&patterns)
    }

    pub(crate) fn refs_of(&self, patterns: &[&str]) -> Result<Vec<u8>, WorkspaceError> {
        let refs = self.reader().refs(patterns)?;
        let line =
            |(name, object): (Vec<u8>, String)| [object.as_bytes(), b" ", &name, b"\n"].concat();
        Ok(refs.into_iter().flat_map(line).collect())
    }
}

/// Makes the folders of a git folder that borrows the objects of a repository.
pub(crate) fn borrow_objects(git_dir: &Path, common_dir: &Path) -> io::Result<()> {
    for folder in FOLDERS {
        fs::create_dir_all(git_dir.join(folder))?;
    }
    let objects = common_dir.join("objects");
    let line = [objects.as_os_str().as_bytes(), b"\n"].concat();
    fs::write(git_dir.join("objects/info/alternates"), line)
}

fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), WorkspaceError> {
    fs::write(path, bytes).map_err(|source| WorkspaceError::io("write", path, source))
}

impl Pristine {
    /// Checks that the folder and its git folder are those that were created, and that not all files of the commit are
    /// gone: a removal that meets files being written leaves the folder itself. Changes to single files do not matter
    /// here, since formatters and builds change and remove some.
    ///
    /// # Errors
    /// [`WorkspaceError::CheckoutGone`] when they are not. Whatever ran there has not seen the commit.
    pub fn require_in_place(&self) -> Result<(), WorkspaceError> {
        for anchor in self.anchors() {
            let holds = anchor
                .holds()
                .map_err(|source| WorkspaceError::io("look at", &anchor.path, source))?;
            if !holds {
                return Err(self.gone());
            }
        }
        if self.tracked().are_gone(self.path()) {
            return Err(self.gone());
        }
        Ok(())
    }

    fn gone(&self) -> WorkspaceError {
        WorkspaceError::CheckoutGone {
            path: self.path().to_owned(),
        }
    }
}
