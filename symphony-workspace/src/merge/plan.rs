//! The result of a merge, computed without touching any checkout.

use super::style::{MergeStyle, may_fast_forward};
use crate::change::paths_of;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{CommonReader, Git, Identity, fields};
use crate::repository::{Repository, commit_tree, tree_of};

/// The result of merging a head into a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergePlan {
    /// The base already has the head, or everything that it changes.
    AlreadyMerged,
    /// The base only needs to move to the head.
    FastForward(CommitId),
    /// This commit was made, with the base as its first parent. Nothing refers to it yet.
    Merge(CommitId),
    /// These files conflict.
    Conflict(Vec<String>),
    /// There is no common commit.
    Unrelated,
}

impl MergePlan {
    /// Returns the commit that the base would move to; `None` when there is nothing to move.
    pub fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::FastForward(commit) | Self::Merge(commit) => Some(commit),
            Self::AlreadyMerged | Self::Conflict(_) | Self::Unrelated => None,
        }
    }
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
    let Some(ancestor) = CommonReader::new(git).merge_base(base, head)? else {
        return Ok(MergePlan::Unrelated);
    };
    if ancestor == *head {
        return Ok(MergePlan::AlreadyMerged);
    }
    if ancestor == *base && may_fast_forward(git, base, head, style)? {
        return Ok(MergePlan::FastForward(head.clone()));
    }
    let tree = match merge_trees(git, base, head)? {
        Ok(tree) => tree,
        Err(files) => return Ok(MergePlan::Conflict(files)),
    };
    // An interrupted squash whose base did move, or the same change made in another way.
    if style != MergeStyle::FastForward && tree == tree_of(git, base)? {
        return Ok(MergePlan::AlreadyMerged);
    }
    let parents: &[&CommitId] = match style {
        MergeStyle::Squash => &[base],
        _ => &[base, head],
    };
    commit_tree(git, &tree, parents, message, identity).map(MergePlan::Merge)
}

/// The tree that a merge makes, or the files that conflict.
pub type MergedTrees = Result<CommitId, Vec<String>>;

/// Merges the trees of two commits with the attributes of the first.
pub(crate) fn merge_trees(
    git: &Git,
    base: &CommitId,
    head: &CommitId,
) -> Result<MergedTrees, WorkspaceError> {
    let answer = git
        .command("merge-tree")
        .apart(base)
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
        return Ok(Err(files));
    }
    Ok(Ok(tree))
}

/// How many heads one process merges.
const MERGES_MAX: usize = 50;

/// Merges the trees of a base and of each head, as [`merge_trees`] does, until git stops. An older git does not begin.
fn many_merges(
    git: &Git,
    base: &CommitId,
    heads: &[CommitId],
) -> Result<Vec<MergedTrees>, WorkspaceError> {
    if heads.len() < 2 {
        return Ok(Vec::new());
    }
    let pairs: Vec<String> = heads
        .iter()
        .map(|head| format!("{base} {head}\n"))
        .collect();
    let answer = git
        .command("merge-tree")
        .apart(base)
        .args(["--write-tree", "--name-only", "--no-messages", "--stdin"])
        .stdin(pairs.concat().into_bytes())
        .slow()
        .answer(&[0, 1, 128, 129])?;
    Ok(merges_in(&answer.stdout).collect())
}

/// Reads the answers of `git merge-tree --stdin`: for each merge a status, a tree, the conflicting files, and an empty field, each before
/// a NUL. One that was cut off is left out.
fn merges_in(stdout: &[u8]) -> impl Iterator<Item = MergedTrees> {
    let mut fields = stdout.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let is_clean = match fields.next()? {
            b"0" => false,
            b"1" => true,
            _ => return None,
        };
        let tree = CommitId::parse(str::from_utf8(fields.next()?).ok()?).ok()?;
        let mut files: Vec<String> = Vec::new();
        loop {
            match fields.next()? {
                b"" => break,
                file => files.push(String::from_utf8_lossy(file).into_owned()),
            }
        }
        files.dedup();
        Some(if is_clean { Ok(tree) } else { Err(files) })
    })
}

impl Repository {
    /// Computes the result of merging `head` into `base`. A merge commit is made as an object, so that gates can run on
    /// it ([`Repository::create_temporary`]), and exactly this commit can become the base ([`Repository::move_base`]).
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`], and when git fails.
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

    /// Returns the files that conflict between two commits; empty when a merge is clean.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`], and when git fails.
    pub fn conflicts(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<String>, WorkspaceError> {
        self.require_commit(base)?;
        self.require_commit(head)?;
        Ok(merge_trees(&self.git, base, head)?
            .err()
            .unwrap_or_default())
    }

    /// Merges the trees of a base and each of many heads, with one process for 50 of them where git can merge several (2.39). `None` for a
    /// head about which git could not tell.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`] when the base is not here.
    pub fn merges_of_all(
        &self,
        base: &CommitId,
        heads: &[CommitId],
    ) -> Result<Vec<Option<MergedTrees>>, WorkspaceError> {
        self.require_commit(base)?;
        let mut found = Vec::new();
        for heads in heads.chunks(MERGES_MAX) {
            let many = many_merges(&self.git, base, heads).unwrap_or_else(|error| {
                tracing::warn!(%error, "git did not merge several commits at once");
                Vec::new()
            });
            // Git stops at a head that is gone, or has no common commit. What follows is merged one by one.
            let rest = heads.iter().skip(many.len());
            found.extend(many.into_iter().map(Some));
            for head in rest {
                let merged = self
                    .require_commit(head)
                    .and_then(|()| merge_trees(&self.git, base, head));
                if let Err(error) = &merged {
                    tracing::warn!(%head, %error, "git could not merge a commit");
                }
                found.push(merged.ok());
            }
        }
        Ok(found)
    }

    /// Counts the commits that `base` had when it was at `was`, that it no longer has, and that a merge of `head` would
    /// bring back. Returns 0 if the repository no longer has `was`.
    ///
    /// # Errors
    /// When git fails.
    pub fn returning_commits(
        &self,
        base: &CommitId,
        head: &CommitId,
        was: &CommitId,
    ) -> Result<usize, WorkspaceError> {
        if !self.has_commit(was)? {
            return Ok(0);
        }
        match self.reader().merge_base(was, head)? {
            Some(common) => self.commits_ahead(base, &common),
            None => Ok(0),
        }
    }

    /// Returns whether two commits have the same files.
    ///
    /// # Errors
    /// When git fails, or the repository does not have one of the commits.
    pub fn have_same_tree(&self, one: &CommitId, two: &CommitId) -> Result<bool, WorkspaceError> {
        Ok(tree_of(&self.git, one)? == tree_of(&self.git, two)?)
    }

    /// Returns whether a merged commit has the changes of an approved head: the head is in its history, or it is
    /// exactly the result of merging the head into its first parent or into itself (a squash).
    ///
    /// # Errors
    /// When git fails, or the repository does not have one of the commits.
    pub fn holds_changes(
        &self,
        merged: &CommitId,
        head: &CommitId,
    ) -> Result<bool, WorkspaceError> {
        if self.is_merged(head, merged)? {
            return Ok(true);
        }
        let tree = tree_of(&self.git, merged)?;
        let parent = self.reader().first_parent(merged)?;
        for onto in parent.iter().chain([merged]) {
            if merge_trees(&self.git, onto, head)?.is_ok_and(|result| result == tree) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_many_merges_are_read_up_to_where_git_stopped() {
        let read = |text: &str| {
            let stdout = text.replace('|', "\0");
            merges_in(stdout.as_bytes()).collect::<Vec<_>>()
        };
        let id = |digit: &str| digit.repeat(40);
        let tree = |digit| CommitId::parse(&id(digit)).unwrap();
        let clean = |digit: &str| format!("1|{}||", id(digit));
        let conflict = format!("0|{}|a.txt|a.txt|b c||", id("b"));
        let whole = clean("a") + &conflict + &clean("c");
        let files = vec!["a.txt".to_owned(), "b c".to_owned()];
        assert_eq!(read(&whole), [Ok(tree("a")), Err(files), Ok(tree("c"))]);
        assert!(read("").is_empty());
        for cut in ["0|bb|a.t", &id("b"), "usage: git merge-tree", "1|bb||"] {
            assert_eq!(read(&(clean("a") + cut)), [Ok(tree("a"))], "{cut}");
        }
    }
}
