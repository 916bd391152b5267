//! Rescue refs, so that nothing that exists only in a worktree is ever lost.

use std::fs;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::inner::unsaved_submodules;
use super::operation;
use super::rescue_ref::RescueRef;
use super::stage::{stage, unstage};
use super::status::{Status, repo_path_text, status_of};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Identity};
use crate::repository::{Expect, Repository, commit_tree, move_ref, tree_of};
use crate::worktree::{Worktree, WorktreeKey};

/// How many rescues of one worktree one second may have.
const SAME_SECOND_MAX: usize = 1_000;

impl Repository {
    /// Saves what is uncommitted or untracked in a worktree; `None` when there is nothing to save.
    ///
    /// # Errors
    /// [`WorkspaceError::Embedded`] when a repository inside the worktree cannot be saved with it; otherwise when git
    /// fails. The worktree is unchanged.
    pub fn rescue(
        &self,
        worktree: &Worktree,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        match self.snapshot(worktree, Inner::Refuse)? {
            Some(commit) => self.keep(&worktree.key, &commit, now).map(Some),
            None => Ok(None),
        }
    }

    /// Saves what is uncommitted, for a change of the checkout that leaves inner repositories where they are.
    pub(super) fn rescue_around(
        &self,
        worktree: &Worktree,
        now: Timestamp,
    ) -> Result<Option<RescueRef>, WorkspaceError> {
        match self.snapshot(worktree, Inner::Leave)? {
            Some(commit) => self.keep(&worktree.key, &commit, now).map(Some),
            None => Ok(None),
        }
    }

    /// Saves what is uncommitted, and the commit that is checked out.
    pub(crate) fn rescue_with_head(
        &self,
        worktree: &Worktree,
        now: Timestamp,
    ) -> Result<RescueRef, WorkspaceError> {
        let commit = match self.snapshot(worktree, Inner::Leave)? {
            Some(commit) => commit,
            None => self.head(worktree)?,
        };
        self.keep(&worktree.key, &commit, now)
    }

    /// Returns a commit of what is in a worktree now, uncommitted and untracked files included; that which is checked out if there are none.
    /// An agent may work there meanwhile: neither its files nor its index change, and no ref has the commit.
    ///
    /// # Errors
    /// When git fails, for example because the agent changes its index at this moment.
    pub fn save_point(&self, worktree: &Worktree) -> Result<CommitId, WorkspaceError> {
        match self.snapshot(worktree, Inner::Leave)? {
            Some(commit) => Ok(commit),
            None => self.head(worktree),
        }
    }

    /// Writes the folder as a tree, without embedded repositories and copied configuration files. The worktree's own
    /// index is not touched.
    pub(super) fn tree_of_folder(
        &self,
        worktree: &Worktree,
        status: &Status,
    ) -> Result<CommitId, WorkspaceError> {
        let git = &worktree.git;
        let index = IndexCopy::of(git)?;
        let protected = self.protected_paths(worktree)?;
        stage(git, Some(index.path()), status, &protected)
    }

    /// Makes a commit of the folder; `None` when it equals the head.
    fn snapshot(
        &self,
        worktree: &Worktree,
        inner: Inner,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let git = &worktree.git;
        let protected = self.protected_paths(worktree)?;
        // What is in a worktree that an agent added is saved as plain files.
        let status = status_of(git, &self.not_work(worktree)?)?;
        if inner == Inner::Refuse {
            refuse_inner(git, &status)?;
        }
        let head = self.head(worktree)?;
        if status.is_clean() && operation::merge_heads(git).is_empty() {
            return Ok(None);
        }
        let head_tree = tree_of(git, &head)?;
        let index = IndexCopy::of(git)?;
        // A conflicted index has no tree. Its files are in the folder, with their conflict markers.
        let staged = if status.conflicted.is_empty() {
            unstage(git, Some(index.path()), &protected)?;
            let command = git.command("write-tree").index(Some(index.path()));
            Some(command.object()?)
        } else {
            None
        };
        let tree = stage(git, Some(index.path()), &status, &protected)?;
        let merged = operation::merge_heads(git);
        let message = format!("symphony({}): rescued", worktree.key);
        let staged = staged.filter(|staged| *staged != tree && *staged != head_tree);
        let staged = match staged {
            Some(staged) => Some(commit_tree(
                git,
                &staged,
                &[&head],
                &format!("{message} (index)"),
                &Identity::symphony(),
            )?),
            None => None,
        };
        let parents: Vec<&CommitId> = std::iter::once(&head)
            .chain(&staged)
            .chain(&merged)
            .collect();
        commit_tree(git, &tree, &parents, &message, &Identity::symphony()).map(Some)
    }

    /// Returns the rescue refs of a worktree, sorted.
    ///
    /// # Errors
    /// When git fails.
    pub fn rescues_of(&self, key: &WorktreeKey) -> Result<Vec<String>, WorkspaceError> {
        let folder = format!("refs/symphony/rescue/{}/", key.as_ref_part());
        let refs = self.reader().refs(&[&folder])?;
        let names = refs.into_keys().map(String::from_utf8);
        Ok(names.filter_map(Result::ok).collect())
    }

    /// Creates a rescue ref for a commit.
    ///
    /// # Errors
    /// When the repository has no such commit, or git fails.
    pub fn keep(
        &self,
        key: &WorktreeKey,
        commit: &CommitId,
        now: Timestamp,
    ) -> Result<RescueRef, WorkspaceError> {
        let folder = format!("refs/symphony/rescue/{}", key.as_ref_part());
        self.keep_below(&folder, commit, now)
    }

    /// Creates a rescue ref for a commit in a folder of refs, unless it has one there.
    ///
    /// # Errors
    /// As [`Repository::keep`].
    pub(crate) fn keep_once(
        &self,
        folder: &str,
        commit: &CommitId,
        now: Timestamp,
    ) -> Result<RescueRef, WorkspaceError> {
        let found = self
            .git
            .command("for-each-ref")
            .args(["--count=1", "--format=%(refname)"])
            .arg(format!("--points-at={commit}"))
            .arg(folder)
            .run()?;
        let reference = String::from_utf8_lossy(&found).trim_end().to_owned();
        if reference.is_empty() {
            return self.keep_below(folder, commit, now);
        }
        Ok(RescueRef {
            reference,
            commit: commit.clone(),
        })
    }

    /// Creates a rescue ref for a commit in a folder of refs.
    ///
    /// # Errors
    /// As [`Repository::keep`].
    pub(crate) fn keep_below(
        &self,
        folder: &str,
        commit: &CommitId,
        now: Timestamp,
    ) -> Result<RescueRef, WorkspaceError> {
        let name = format!("{folder}/{}", now.strftime("%Y%m%dT%H%M%SZ"));
        let mut last = None;
        for number in 1..=SAME_SECOND_MAX {
            let reference = if number == 1 {
                name.clone()
            } else {
                format!("{name}-{number}")
            };
            match self.reader().reference(&reference)? {
                // A repeated call after a crash finds its own ref again.
                Some(found) if found == *commit => {
                    return Ok(RescueRef {
                        reference,
                        commit: found,
                    });
                }
                Some(_) => continue,
                None => {}
            }
            // Only a new ref: two processes in the same second must not overwrite each other's rescue.
            let made = move_ref(
                &self.git,
                &reference,
                Expect::Absent,
                commit,
                "symphony: rescue",
            );
            match made {
                Ok(()) => {
                    return Ok(RescueRef {
                        reference,
                        commit: commit.clone(),
                    });
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| WorkspaceError::GitAnswer {
            command: "git update-ref".to_owned(),
            expected: "a free name for a rescue ref",
            found: name,
        }))
    }
}

/// What happens to repositories inside the worktree, which no rescue ref can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    /// The folder will go: nothing is done.
    Refuse,
    /// The folder stays, and they with it.
    Leave,
}

fn refuse_inner(git: &Git, status: &Status) -> Result<(), WorkspaceError> {
    let mut embedded = status.embedded.clone();
    embedded.extend(unsaved_submodules(git)?);
    if embedded.is_empty() {
        return Ok(());
    }
    Err(WorkspaceError::Embedded {
        path: git.work_tree().to_owned(),
        embedded: embedded.iter().map(|path| repo_path_text(path)).collect(),
    })
}

/// A copy of a worktree's index, to stage into without touching the real one.
struct IndexCopy {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl IndexCopy {
    fn of(git: &Git) -> Result<Self, WorkspaceError> {
        let git_dir = &git.place().git_dir;
        // In the git folder, since a split index names its other half relative to it.
        let folder = tempfile::Builder::new()
            .prefix("symphony-index-")
            .tempdir_in(git_dir)
            .map_err(|source| WorkspaceError::io("make a temporary folder in", git_dir, source))?;
        let copy = Self {
            path: folder.path().join("index"),
            _folder: folder,
        };
        let index = git_dir.join("index");
        if index.exists() {
            fs::copy(&index, copy.path())
                .map_err(|source| WorkspaceError::io("copy", &index, source))?;
        } else {
            git.command("read-tree")
                .index(Some(copy.path()))
                .arg("HEAD")
                .run()?;
        }
        Ok(copy)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
