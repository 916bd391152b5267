//! What a worktree is, and what is told of its making.

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::key::WorktreeKey;
use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::git::{Git, Place};
use crate::repository::BranchName;

/// A checkout of Symphony's, with the git folder that it was made with.
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

    /// Returns its branch; none for a detached one.
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

/// Whether the base is merged into a branch that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseMerge {
    /// Worker, planner and phase runs without an open pull request or claim.
    Merge,
    /// Judges, and whenever a merge would void a pull request or a delivery.
    Leave,
}

/// Asks for an issue's worktree.
#[derive(Debug, Clone)]
pub struct WorktreeRequest<'a> {
    /// Its key.
    pub key: &'a WorktreeKey,
    /// The branch that is checked out in it; created when it does not exist.
    pub branch: &'a BranchName,
    /// The branch that it starts from.
    pub base: &'a BranchName,
    /// Whether the base is merged in when the branch exists already.
    pub merge: BaseMerge,
    /// The time, for the names of rescue refs.
    pub now: Timestamp,
}

/// What came of merging the base into a reused worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOfBase {
    /// Not asked for, or the branch is new and begins at the base.
    NotAsked,
    /// The branch has all of the base.
    UpToDate,
    /// The branch is at this commit now.
    Merged(CommitId),
    /// Nothing was changed: these files conflict.
    Conflict(Vec<String>),
    /// Nothing was changed: uncommitted changes, in these files, are in the way.
    BlockedByChanges(Vec<String>),
    /// Nothing was changed: base and branch have no common commit (the base was rewritten).
    Unrelated,
}

/// Something that was mended on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// A registration without a folder was removed.
    StaleRegistration {
        /// Where its last state was saved, when it was not in any branch.
        rescue: Option<RescueRef>,
    },
    /// A folder that no registration knew was moved here.
    LeftoverMoved(PathBuf),
    /// A creation that had been interrupted was completed.
    CreationCompleted,
    /// A lock file of a dead git was removed.
    LockRemoved(PathBuf),
    /// The `.git` file was missing and was written again.
    GitFileRestored,
    /// The branch was checked out again; what was there instead is in the rescue ref, or was
    /// already part of a branch.
    HeadReturned {
        /// Where the other state was saved, when it was not on the branch.
        rescue: Option<RescueRef>,
    },
    /// The branch had vanished and was made again at the commit that was last checked out.
    BranchRestored(CommitId),
}

/// A worktree that is ready for a run.
#[derive(Debug)]
pub struct Prepared {
    /// The commit of the base that was seen: what the branch has of others is in it.
    pub base_commit: CommitId,
    /// The worktree.
    pub worktree: Worktree,
    /// Whether it was made just now (the set-up command has to run).
    pub created: bool,
    /// What came of merging the base.
    pub base: MergeOfBase,
    /// What was mended.
    pub recovered: Vec<Recovery>,
}

/// What shall become of the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFate<'a> {
    /// It stays.
    Keep,
    /// It is deleted when the base has all its commits.
    DeleteIfMerged,
    /// The record says that this commit of it was merged. A squash leaves no trace in the history, so the record counts: the
    /// branch is deleted when it has nothing beyond that commit, or when the base has all its commits.
    DeleteIfRecorded(&'a CommitId),
    /// It is deleted; commits that the base does not have go to a rescue ref.
    Delete,
}

/// Asks for a removal.
#[derive(Debug, Clone)]
pub struct RemoveRequest<'a> {
    /// The worktree's key.
    pub key: &'a WorktreeKey,
    /// Its branch; none for a detached one.
    pub branch: Option<&'a BranchName>,
    /// The branch that counts for "merged".
    pub base: &'a BranchName,
    /// What shall become of the branch.
    pub fate: BranchFate<'a>,
    /// The time, for the names of rescue refs.
    pub now: Timestamp,
}
