//! Merging the latest base into a reused worktree.
//!
//! The merge is made in the object database. The folder is only touched if there are no conflicts, so there is never a
//! half-done merge to abort.

use std::collections::BTreeMap;

use super::plan::{MergePlan, plan};
use super::style::MergeStyle;
use crate::change::{Touched, touched};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::{Git, Identity, fields};
use crate::repository::{BranchName, Expect, Repository, move_ref};
use crate::worktree::{MergeOfBase, Worktree};

impl Repository {
    /// Merges a base into a worktree's branch.
    pub(crate) fn merge_base_in(
        &self,
        worktree: &Worktree,
        base_branch: &BranchName,
        base: &CommitId,
    ) -> Result<MergeOfBase, WorkspaceError> {
        let git = &worktree.git;
        let head = self.head(worktree)?;
        let message = format!("Merge branch '{base_branch}' into {}", worktree.key());
        let identity = Identity::symphony();
        let plan = plan(
            git,
            &head,
            base,
            MergeStyle::FastForward,
            &message,
            &identity,
        )?;
        let commit = match plan {
            MergePlan::AlreadyMerged => return Ok(MergeOfBase::UpToDate),
            MergePlan::Conflict(files) => return Ok(MergeOfBase::Conflict(files)),
            MergePlan::Unrelated => return Ok(MergeOfBase::Unrelated),
            MergePlan::FastForward(commit) | MergePlan::Merge(commit) => commit,
        };
        if let Some(files) = move_checkout(git, &head, &commit)? {
            return Ok(MergeOfBase::BlockedByChanges(files));
        }
        Failpoint::WorktreeBaseMoved.reach();
        let reference = worktree
            .branch()
            .map_or_else(|| "HEAD".to_owned(), BranchName::reference);
        // After the folder: a crash in between leaves the base's changes as uncommitted ones, never a branch that seems
        // to revert them.
        move_ref(git, &reference, Expect::At(&head), &commit, &message)?;
        Ok(MergeOfBase::Merged(commit))
    }
}

/// Moves index and files from one commit to another, as a checkout does. Uncommitted changes stay; if they are in the
/// way, nothing happens and the files are returned.
pub(super) fn move_checkout(
    git: &Git,
    from: &CommitId,
    to: &CommitId,
) -> Result<Option<Vec<String>>, WorkspaceError> {
    // Refreshed first, since entries that only look changed (a copied checkout) would count as changes. Not with `-q`,
    // which would also hide that a lock is in git's way.
    git.command("update-index")
        .arg("--refresh")
        .slow()
        .answer(&[0, 1])?;
    let outcome = git
        .command("read-tree")
        .args(["-m", "-u", "--no-recurse-submodules"])
        .args([from.as_str(), to.as_str()])
        .slow()
        .answer(&[0]);
    match outcome {
        Ok(_) => Ok(None),
        Err(WorkspaceError::Git {
            code: Some(128),
            stderr,
            ..
        }) if blocked(&stderr) => Ok(Some(blocking_files(&stderr))),
        // The index is written after the files, so it shows whether git died before or after its effect.
        Err(error) => {
            let touched = touched(git, from, to)?;
            match index_shows(git, to, &touched) {
                Ok(true) if !touched.is_empty() => Ok(None),
                _ => Err(error),
            }
        }
    }
}

/// Returns whether the index of a checkout has these paths as a commit has them. Others may be staged by their owner.
pub(super) fn index_shows(
    git: &Git,
    commit: &CommitId,
    paths: &BTreeMap<String, Touched>,
) -> Result<bool, WorkspaceError> {
    let list = git
        .command("diff-index")
        .args(["--cached", "-z", "--name-only", "--no-renames"])
        .arg(commit.as_str())
        .slow()
        .run()?;
    Ok(!fields(&list).any(|path| paths.contains_key(&*String::from_utf8_lossy(path))))
}

fn blocked(stderr: &str) -> bool {
    stderr.contains("not uptodate")
        || stderr.contains("would be overwritten")
        || stderr.contains("would be removed")
        || stderr.contains("would lose untracked files")
}

/// Reads the names out of `error: Entry 'x' not uptodate. Cannot merge.` and its like.
fn blocking_files(stderr: &str) -> Vec<String> {
    stderr
        .lines()
        .filter_map(|line| Some(line.split_once('\'')?.1.rsplit_once('\'')?.0.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocking_files_are_named() {
        let stderr = "error: Entry 'a b.txt' not uptodate. Cannot merge.\nerror: Untracked working tree file 'it's' would be overwritten by merge.\n";
        assert!(blocked(stderr));
        assert_eq!(
            blocking_files(stderr),
            vec!["a b.txt".to_owned(), "it's".to_owned()]
        );
        assert!(!blocked("fatal: unable to write new index file"));
    }
}
