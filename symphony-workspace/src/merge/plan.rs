//! What a merge would give, found out without touching any checkout.

use crate::change::paths_of;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Identity, Reader, fields};
use crate::repository::{Repository, commit_tree};

/// What a merge of a head into a base gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergePlan {
    /// The base has the head already.
    AlreadyMerged,
    /// The base only has to move to the head.
    FastForward(CommitId),
    /// This merge commit was made; nothing points to it yet.
    Merge(CommitId),
    /// These files conflict.
    Conflict(Vec<String>),
    /// There is no common commit.
    Unrelated,
}

impl MergePlan {
    /// Returns the commit that the base would move to; none when there is nothing to move.
    pub fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::FastForward(commit) | Self::Merge(commit) => Some(commit),
            Self::AlreadyMerged | Self::Conflict(_) | Self::Unrelated => None,
        }
    }
}

/// Whether a merge commit is made where none is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStyle {
    /// A fast-forward where it is possible.
    FastForward,
    /// Always a merge commit.
    Commit,
}

/// Merges two commits in the object database only.
pub(super) fn plan(
    git: &Git,
    base: &CommitId,
    head: &CommitId,
    style: MergeStyle,
    message: &str,
    identity: &Identity,
) -> Result<MergePlan, WorkspaceError> {
    let Some(ancestor) = Reader::new(git).merge_base(base, head)? else {
        return Ok(MergePlan::Unrelated);
    };
    if ancestor == *head {
        return Ok(MergePlan::AlreadyMerged);
    }
    if ancestor == *base && style == MergeStyle::FastForward {
        return Ok(MergePlan::FastForward(head.clone()));
    }
    let answer = git
        .command("merge-tree")
        .args(["--write-tree", "-z", "--name-only", "--no-messages"])
        .args([base.as_str(), head.as_str()])
        .slow()
        .answer(&[0, 1])?;
    let tree = fields(&answer.stdout)
        .next()
        .and_then(|tree| CommitId::parse(&String::from_utf8_lossy(tree)).ok())
        .ok_or_else(|| WorkspaceError::GitAnswer {
            command: "git merge-tree".to_owned(),
            expected: "the name of a tree",
            found: String::from_utf8_lossy(&answer.stdout)
                .chars()
                .take(80)
                .collect(),
        })?;
    if answer.code == 1 {
        let mut files = paths_of(&answer.stdout);
        files.remove(0);
        files.dedup();
        return Ok(MergePlan::Conflict(files));
    }
    commit_tree(git, &tree, &[base, head], message, identity).map(MergePlan::Merge)
}

impl Repository {
    /// Finds out what merging `head` into `base` gives. A merge commit is made as an object, so that
    /// gates can run on it ([`Repository::create_temporary`]) and exactly it can become the base
    /// ([`Repository::move_base`]).
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`]; else when git fails.
    pub fn plan_merge(
        &self,
        base: &CommitId,
        head: &CommitId,
        style: MergeStyle,
        message: &str,
        identity: &Identity,
    ) -> Result<MergePlan, WorkspaceError> {
        self.require_commit(base)?;
        self.require_commit(head)?;
        plan(&self.git, base, head, style, message, identity)
    }
}
