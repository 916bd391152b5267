//! The commit that exit handling makes of what an agent left.

use std::collections::BTreeSet;
use std::path::PathBuf;

use symphony_core::Timestamp;

use super::operation;
use super::stage::{stage, unstage};
use super::status::{Status, repo_path_text};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::{Git, Identity};
use crate::repository::{Expect, HeadFile, Repository, commit_tree, move_ref, tree_of};
use crate::worktree::{Recovery, Worktree, clear_stale_locks};

/// The result of an auto-commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoCommit {
    /// The new commit; `None` if there was nothing to commit.
    pub commit: Option<CommitId>,
    /// The head of the branch now.
    pub head: CommitId,
    /// Repositories inside the worktree, which were left out.
    pub left_out: Vec<String>,
    /// Files with a filter that Symphony may not run, which were left out.
    pub unfiltered: Vec<String>,
    /// What was repaired first.
    pub recovered: Vec<Recovery>,
}

/// Returns the subject of the commit for an issue.
pub fn work_in_progress(identifier: &str) -> String {
    format!("symphony({identifier}): work in progress")
}

/// Returns whether a subject is one of exit handling's own commits.
pub(crate) fn is_work_in_progress(subject: &str) -> bool {
    subject.starts_with("symphony(") && subject.ends_with("): work in progress")
}

impl Repository {
    /// Commits everything that is uncommitted to the worktree's branch, except copied configuration files and files
    /// with a filter that Symphony may not run. If the agent left its head elsewhere, it returns to the branch first.
    /// Idempotent after a crash.
    ///
    /// # Errors
    /// [`WorkspaceError::HookRefused`] when `run_hooks` is on and a hook refuses; else when git
    /// fails. The work stays in the worktree then.
    pub fn auto_commit(
        &self,
        worktree: &Worktree,
        message: &str,
        now: Timestamp,
    ) -> Result<AutoCommit, WorkspaceError> {
        let mut recovered = Vec::new();
        clear_stale_locks(worktree, &mut recovered)?;
        self.return_to_branch(worktree, now, &mut recovered)?;
        // Before the status is read: changes of hidden files would silently be missing from the commit.
        self.reveal_hidden(worktree)?;
        let protected = self.protected_paths(worktree)?;
        let git = &worktree.git;
        let status = self.status(worktree)?;
        let left_out = status
            .embedded
            .iter()
            .map(|path| repo_path_text(path))
            .collect();
        let unfiltered: BTreeSet<PathBuf> =
            self.unfiltered(worktree, &status)?.into_keys().collect();
        let status = status.without(&unfiltered);
        let head = self.head(worktree)?;
        let commit = if status.is_clean() && operation::merge_heads(git).is_empty() {
            unstage(git, None, &protected)?;
            None
        } else {
            self.commit_all(worktree, &head, &status, &protected, message)?
        };
        Ok(AutoCommit {
            head: commit.clone().unwrap_or(head),
            commit,
            left_out,
            unfiltered: unfiltered.iter().map(|path| repo_path_text(path)).collect(),
            recovered,
        })
    }

    fn commit_all(
        &self,
        worktree: &Worktree,
        head: &CommitId,
        status: &Status,
        protected: &BTreeSet<PathBuf>,
        message: &str,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let git = &worktree.git;
        let tree = stage(git, None, status, protected)?;
        Failpoint::CommitStaged.reach();
        let merged = operation::merge_heads(git);
        if merged.is_empty() && tree == tree_of(git, head)? {
            return Ok(None);
        }
        if self.options.run_hooks {
            return match commit_with_hooks(git, message) {
                Ok(()) => self.head(worktree).map(Some),
                // Git may have died after the commit: the head shows whether it was made.
                Err(error) => match self.head(worktree) {
                    Ok(now) if now != *head && tree_of(git, &now)? == tree => Ok(Some(now)),
                    _ => Err(error),
                },
            };
        }
        let parents: Vec<&CommitId> = std::iter::once(head).chain(&merged).collect();
        let commit = commit_tree(git, &tree, &parents, message, &Identity::symphony())?;
        Failpoint::CommitMade.reach();
        let reference = worktree.branch().map_or_else(
            || "HEAD".to_owned(),
            crate::repository::BranchName::reference,
        );
        move_ref(git, &reference, Expect::At(head), &commit, message)?;
        Failpoint::CommitMoved.reach();
        // Only now: after a crash before this line, the repeated call still finds the merge and commits with both
        // parents.
        operation::forget(git)?;
        Ok(Some(commit))
    }

    /// Returns the commit that is checked out in a worktree.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`] when its branch does not exist.
    pub fn head(&self, worktree: &Worktree) -> Result<CommitId, WorkspaceError> {
        // Most often no process is needed.
        let read = match HeadFile::read(&worktree.git) {
            Some(HeadFile::Reference(name)) => self.reader().reference(&name)?,
            Some(HeadFile::Detached(commit)) => {
                self.reader().has_commit(&commit)?.then_some(commit)
            }
            None => None,
        };
        if let Some(commit) = read {
            return Ok(commit);
        }
        let answer = worktree
            .git
            .command("rev-parse")
            .args(["--verify", "--quiet", "HEAD^{commit}"])
            .answer(&[0, 1, 128])?;
        let text = String::from_utf8_lossy(&answer.stdout)
            .trim_end()
            .to_owned();
        CommitId::parse(&text).map_err(|_unborn| WorkspaceError::CommitMissing {
            commit: "HEAD".to_owned(),
            root: worktree.path().to_owned(),
        })
    }
}

fn commit_with_hooks(git: &Git, message: &str) -> Result<(), WorkspaceError> {
    let outcome = git
        .command("commit")
        .with_hooks()
        .args(["--quiet", "--no-gpg-sign", "--allow-empty", "-F", "-"])
        .stdin(message.as_bytes().to_vec())
        .slow()
        .answer(&[0]);
    match outcome {
        Ok(_) => Ok(()),
        // If git was killed, no hook refused.
        Err(WorkspaceError::Git {
            place,
            stderr,
            code: Some(_),
            ..
        }) => Err(WorkspaceError::HookRefused {
            path: place,
            stderr,
        }),
        Err(error) => Err(error),
    }
}
