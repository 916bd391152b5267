//! Reading and moving refs.

use super::branch::BranchName;
use super::open::Repository;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Identity, fields};

/// What a ref must be before it is moved.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect<'a> {
    /// It must not exist.
    Absent,
    /// It must be at this commit.
    At(&'a CommitId),
}

/// Moves a ref if it is where it is expected; the reflog tells why.
pub(crate) fn move_ref(
    git: &Git,
    reference: &str,
    expect: Expect<'_>,
    to: &CommitId,
    why: &str,
) -> Result<(), WorkspaceError> {
    let old = match expect {
        Expect::Absent => to.zero_like(),
        Expect::At(commit) => commit.to_string(),
    };
    let outcome = git
        .command("update-ref")
        .args(["-m", why, "--no-deref", "--end-of-options"])
        .args([reference, to.as_str(), &old])
        .answer(&[0]);
    match outcome {
        Ok(_) => Ok(()),
        Err(error) => {
            let found = crate::git::Reader::new(git).reference(reference)?;
            match expect {
                Expect::At(expected) if found.as_ref() != Some(expected) => {
                    Err(WorkspaceError::RefMoved {
                        reference: reference.to_owned(),
                        expected: expected.clone(),
                        found,
                    })
                }
                _ => Err(error),
            }
        }
    }
}

/// Deletes a ref that is at `at`.
pub(crate) fn delete_ref(git: &Git, reference: &str, at: &CommitId) -> Result<(), WorkspaceError> {
    git.command("update-ref")
        .args([
            "--no-deref",
            "-d",
            "--end-of-options",
            reference,
            at.as_str(),
        ])
        .run()?;
    Ok(())
}

/// Returns the tree of a commit.
pub(crate) fn tree_of(git: &Git, commit: &CommitId) -> Result<CommitId, WorkspaceError> {
    git.command("rev-parse")
        .args(["--verify", "--end-of-options"])
        .arg(format!("{commit}^{{tree}}"))
        .object()
}

/// Makes a commit object; nothing points to it yet.
pub(crate) fn commit_tree(
    git: &Git,
    tree: &CommitId,
    parents: &[&CommitId],
    message: &str,
    identity: &Identity,
) -> Result<CommitId, WorkspaceError> {
    let mut command = git
        .command("commit-tree")
        .identity(identity)
        .arg("--no-gpg-sign");
    for parent in parents {
        command = command.args(["-p", parent.as_str()]);
    }
    command
        .args(["-F", "-"])
        .arg(tree.as_str())
        .stdin(message.as_bytes().to_vec())
        .object()
}

impl Repository {
    /// Returns the short names of all local branches, sorted.
    ///
    /// # Errors
    /// When git fails.
    pub fn branches(&self) -> Result<Vec<String>, WorkspaceError> {
        let names = self
            .git
            .command("for-each-ref")
            .args(["--format=%(refname)%00", "refs/heads/"])
            .run()?;
        Ok(fields(&names)
            .filter_map(|name| str::from_utf8(name).ok())
            .filter_map(|name| name.trim_start_matches('\n').strip_prefix("refs/heads/"))
            .map(str::to_owned)
            .collect())
    }

    /// Returns the head of a branch; none when it does not exist.
    ///
    /// # Errors
    /// When git fails.
    pub fn branch_head(&self, branch: &BranchName) -> Result<Option<CommitId>, WorkspaceError> {
        self.reader().reference(&branch.reference())
    }

    /// Creates a branch at a commit, or leaves it when it exists.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchBlocked`] when another branch's name is in the way;
    /// [`WorkspaceError::CommitMissing`] when the commit is not here.
    pub fn create_branch(
        &self,
        branch: &BranchName,
        at: &CommitId,
    ) -> Result<CommitId, WorkspaceError> {
        if let Some(head) = self.branch_head(branch)? {
            return Ok(head);
        }
        self.refuse_blocked(branch)?;
        self.require_commit(at)?;
        let made = move_ref(
            &self.git,
            &branch.reference(),
            Expect::Absent,
            at,
            "symphony: branch created",
        );
        match (made, self.branch_head(branch)?) {
            (Ok(()), _) => Ok(at.clone()),
            // another process made it at this very moment
            (Err(_), Some(head)) => Ok(head),
            (Err(error), None) => Err(error),
        }
    }

    /// Refuses a branch whose name needs a folder where another branch's file stands, or the
    /// reverse.
    pub(crate) fn refuse_blocked(&self, branch: &BranchName) -> Result<(), WorkspaceError> {
        let name = branch.as_str();
        let blocker = self.branches()?.into_iter().find(|other| {
            let above = name.strip_prefix(other.as_str());
            let below = other.strip_prefix(name);
            above.or(below).is_some_and(|rest| rest.starts_with('/'))
        });
        match blocker {
            Some(blocker) => Err(WorkspaceError::BranchBlocked {
                branch: name.to_owned(),
                blocker,
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn require_commit(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        if self.reader().has_commit(commit)? {
            return Ok(());
        }
        Err(WorkspaceError::CommitMissing {
            commit: commit.to_string(),
            root: self.root.clone(),
        })
    }

    /// Counts the commits of `head` that `base` does not have.
    ///
    /// # Errors
    /// When git fails, or one of the commits is not here.
    pub fn commits_ahead(&self, base: &CommitId, head: &CommitId) -> Result<usize, WorkspaceError> {
        self.reader().ahead(base, head)
    }

    /// Says whether `commit` is in the history of `of`.
    ///
    /// # Errors
    /// When git fails, or one of the commits is not here.
    pub fn is_merged(&self, commit: &CommitId, of: &CommitId) -> Result<bool, WorkspaceError> {
        self.reader().is_ancestor(commit, of)
    }

    /// Reads a file as it is at a commit (`CLAUDE.md` at the base, an artifact of a claim); none
    /// when the commit has no regular file there.
    ///
    /// # Errors
    /// [`WorkspaceError::TooLarge`] above `bytes_max`.
    pub fn file_at(
        &self,
        commit: &CommitId,
        path: &str,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.reader().blob(commit, path, bytes_max)
    }

    /// Returns who the user is by the user's own and the repository's git configuration; none when
    /// name or address is not set. Merges carry this identity.
    pub fn human_identity(&self) -> Option<Identity> {
        let get = |name: &str| {
            self.git
                .command("config")
                .args(["--get", name])
                .line()
                .ok()
                .filter(|value| !value.is_empty())
        };
        let global = self.git.user().identity();
        let name = get("user.name").or_else(|| global.as_ref().map(|user| user.name.clone()));
        let email = get("user.email").or_else(|| global.map(|user| user.email));
        Some(Identity {
            name: name?,
            email: email?,
        })
    }
}
