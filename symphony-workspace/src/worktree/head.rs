//! What a worktree has checked out, and how it gets back to its branch.

use symphony_core::Timestamp;

use super::model::{Recovery, Worktree};
use crate::change::operation::{self, in_sequence};
use crate::change::overwrite;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Identity;
use crate::own_file::read_text;
use crate::repository::{
    BranchName, Expect, Repository, commit_tree, head_reference, move_ref, point_head, set_own_ref,
    tree_of,
};

impl Repository {
    /// Returns a worktree to its branch when the agent left it on another one or on none.
    ///
    /// Commits on top of the branch move the branch forward. Everything else, including uncommitted work, goes to a
    /// rescue ref.
    pub(crate) fn return_to_branch(
        &self,
        worktree: &Worktree,
        now: Timestamp,
        recovered: &mut Vec<Recovery>,
    ) -> Result<(), WorkspaceError> {
        let Some(branch) = worktree.branch() else {
            return Ok(());
        };
        self.restore_branch(worktree, branch, recovered)?;
        let on_branch = checked_out_reference(worktree)? == Some(branch.reference());
        if on_branch && !in_sequence(&worktree.git) {
            return Ok(());
        }
        let head = self.head(worktree)?;
        let tip = self.branch_head(branch)?;
        let ahead = match &tip {
            Some(tip) => self.is_merged(tip, &head)?,
            None => true,
        };
        if ahead && !in_sequence(&worktree.git) {
            if tip.as_ref() != Some(&head) {
                let expect = tip.as_ref().map_or(Expect::Absent, Expect::At);
                let why = "symphony: commits made beside the branch";
                // The branch takes the commits before `HEAD` leaves them: in the other order, a death in between would
                // leave them to the reflog alone.
                move_ref(&worktree.git, &branch.reference(), expect, &head, why)?;
            }
            attach(worktree, branch)?;
            recovered.push(Recovery::HeadReturned { rescue: None });
            return Ok(());
        }
        // Saved before anything is reset: the commits are on no branch, and the overwrite below replaces the files.
        let rescue = self.rescue_with_head(worktree, now)?;
        operation::forget(&worktree.git)?;
        attach(worktree, branch)?;
        if let Some(tip) = tip {
            overwrite(&worktree.git, &tip)?;
        }
        recovered.push(Recovery::HeadReturned {
            rescue: Some(rescue),
        });
        Ok(())
    }

    /// Restores a branch that disappeared while it was checked out, at the last commit in the worktree's reflog.
    fn restore_branch(
        &self,
        worktree: &Worktree,
        branch: &BranchName,
        recovered: &mut Vec<Recovery>,
    ) -> Result<(), WorkspaceError> {
        let vanished = self.branch_head(branch)?.is_none()
            && checked_out_reference(worktree)? == Some(branch.reference());
        if !vanished {
            return Ok(());
        }
        let log = read_text(&worktree.place().git_dir.join("logs/HEAD")).unwrap_or_default();
        let last = log
            .lines()
            .rev()
            .filter_map(|line| CommitId::parse(line.split(' ').nth(1)?).ok())
            .find(|commit| self.reader().has_commit(commit).unwrap_or(false));
        let commit = match last {
            Some(commit) => commit,
            None => self.base()?.commit,
        };
        let why = "symphony: branch restored";
        move_ref(&self.git, &branch.reference(), Expect::Absent, &commit, why)?;
        recovered.push(Recovery::BranchRestored(commit));
        Ok(())
    }

    /// Returns whether a local branch has the commit.
    pub(super) fn is_on_a_branch(&self, commit: &CommitId) -> Result<bool, WorkspaceError> {
        let found = self
            .git
            .command("for-each-ref")
            .args(["--count=1", &format!("--contains={commit}"), "refs/heads/"])
            .run()?;
        Ok(!found.is_empty())
    }
}

/// Where a detached worktree started: a ref of its own, which disappears with it.
const START: &str = "refs/worktree/symphony-start";

/// Records where a detached worktree starts.
pub(super) fn mark_start(worktree: &Worktree, at: &CommitId) -> Result<(), WorkspaceError> {
    set_own_ref(&worktree.git, START, at, "symphony: begins here")
}

/// Returns whether a commit is the one that a detached worktree started at. Losing it is no loss, whoever made it: a
/// merge result that gates ran on is on no branch.
pub(crate) fn is_start(worktree: &Worktree, head: &CommitId) -> Result<bool, WorkspaceError> {
    let answer = worktree
        .git
        .command("rev-parse")
        .args(["--verify", "--quiet", "--end-of-options", START])
        .answer(&[0, 1])?;
    Ok(answer.stdout.trim_ascii_end() == head.as_str().as_bytes())
}

/// Returns the full name of the ref that a worktree has checked out; `None` when detached.
pub(crate) fn checked_out_reference(worktree: &Worktree) -> Result<Option<String>, WorkspaceError> {
    head_reference(&worktree.git)
}

/// Makes a commit of the index if it differs from the head; `None` if it does not, or cannot be read.
pub(super) fn staged_commit(
    worktree: &Worktree,
    head: &CommitId,
) -> Result<Option<CommitId>, WorkspaceError> {
    let git = &worktree.git;
    if !git.place().git_dir.join("index").exists() {
        return Ok(None);
    }
    let Ok(tree) = git.command("write-tree").object() else {
        return Ok(None);
    };
    if tree == tree_of(git, head)? {
        return Ok(None);
    }
    let message = format!("symphony({}): rescued (index)", worktree.key);
    commit_tree(git, &tree, &[head], &message, &Identity::symphony()).map(Some)
}

fn attach(worktree: &Worktree, branch: &BranchName) -> Result<(), WorkspaceError> {
    point_head(&worktree.git, branch, "symphony: back to the branch")
}
