//! The types of worktrees and of their preparation.

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::key::WorktreeKey;
use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::git::{Git, Place};
use crate::repository::BranchName;

/// A checkout of Symphony's, with the git folder that it was created with.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub(crate) key: WorktreeKey,
    pub(crate) branch: Option<BranchName>,
    pub(crate) git: Git,
}

impl Worktree {
    /// Returns its key.
    pub fn key(&self) -> &WorktreeKey {
        &self.key
    }

    /// Returns its branch; `None` for a detached one.
    pub fn branch(&self) -> Option<&BranchName> {
        self.branch.as_ref()
    }

    /// Returns its folder.
    pub fn path(&self) -> &Path {
        self.git.work_tree()
    }

    /// Returns the folders that git is pinned to.
    pub fn place(&self) -> &Place {
        self.git.place()
    }
}

/// Whether the base is merged into an existing branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseMerge {
    /// For runs of workers, planners and phases without an open pull request or delivery.
    Merge,
    /// For judges, and whenever a merge would void a pull request or a delivery.
    Leave,
}

/// A request for an issue's worktree.
#[derive(Debug, Clone)]
pub struct WorktreeRequest<'a> {
    /// Its key.
    pub key: &'a WorktreeKey,
    /// The branch to check out, which is created if it does not exist.
    pub branch: &'a BranchName,
    /// The branch that it starts from.
    pub base: &'a BranchName,
    /// Whether to merge the base if the branch already exists.
    pub merge: BaseMerge,
    /// The time, for the names of rescue refs.
    pub now: Timestamp,
}

/// The result of merging the base into a reused worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOfBase {
    /// Not requested, or the branch is new and starts at the base.
    NotAsked,
    /// The branch has all of the base.
    UpToDate,
    /// The branch is now at this commit.
    Merged(CommitId),
    /// Nothing was changed: these files conflict.
    Conflict(Vec<String>),
    /// Nothing was changed: uncommitted changes, in these files, are in the way.
    BlockedByChanges(Vec<String>),
    /// Nothing was changed: base and branch have no common commit (the base was rewritten).
    Unrelated,
}

/// A repair that was made on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// A registration without a folder was removed.
    StaleRegistration {
        /// Where its last state was saved, if it was on no branch.
        rescue: Option<RescueRef>,
    },
    /// A folder that git did not know was moved here.
    LeftoverMoved(PathBuf),
    /// An interrupted creation was completed.
    CreationCompleted,
    /// A lock file of a dead git was removed.
    LockRemoved(PathBuf),
    /// The missing `.git` file was written again.
    GitFileRestored,
    /// A dead run left its agent's own git folder. What was in it was taken over.
    GitFolderTaken,
    /// The branch was checked out again. What was checked out instead is in the rescue ref, or was already part of a
    /// branch.
    HeadReturned {
        /// Where the other state was saved, if it was not on the branch.
        rescue: Option<RescueRef>,
    },
    /// The branch had disappeared, and was restored at the last checked-out commit.
    BranchRestored(CommitId),
}

/// A worktree that is ready for a run.
#[derive(Debug)]
pub struct Prepared {
    /// The commit of the base that was read. Everything that the branch has from others is in it.
    pub base_commit: CommitId,
    /// The worktree.
    pub worktree: Worktree,
    /// Whether it was created just now, so that the set-up command has to run.
    pub created: bool,
    /// The result of merging the base.
    pub base: MergeOfBase,
    /// What was repaired.
    pub recovered: Vec<Recovery>,
}

/// What happens to the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFate<'a> {
    /// It is kept.
    Keep,
    /// It is deleted if the base has all its commits.
    DeleteIfMerged,
    /// This commit of it is recorded as merged. A squash leaves no trace in the history, so the record counts: the
    /// branch is deleted if it has nothing beyond that commit, or if the base has all its commits.
    DeleteIfRecorded(&'a CommitId),
    /// It is deleted. Commits that the base does not have go to a rescue ref.
    Delete,
}

/// A request to remove a worktree.
#[derive(Debug, Clone)]
pub struct RemoveRequest<'a> {
    /// The worktree's key.
    pub key: &'a WorktreeKey,
    /// Its branch; `None` for a detached one.
    pub branch: Option<&'a BranchName>,
    /// The branch that decides what counts as merged.
    pub base: &'a BranchName,
    /// What happens to the branch.
    pub fate: BranchFate<'a>,
    /// The time, for the names of rescue refs.
    pub now: Timestamp,
}
