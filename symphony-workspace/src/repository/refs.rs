//! Reading and moving refs.

use super::branch::BranchName;
use super::open::Repository;
use super::own_branches::OWN_BRANCHES;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{CommonReader, Git, Identity, clear_lock};
use crate::own_file::read_text;

/// The required state of a ref before it is moved.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect<'a> {
    /// It must not exist.
    Absent,
    /// It must be at this commit.
    At(&'a CommitId),
}

impl<'a> Expect<'a> {
    fn commit(self) -> Option<&'a CommitId> {
        match self {
            Self::Absent => None,
            Self::At(commit) => Some(commit),
        }
    }
}

/// Where a ref is after a change that git did not confirm.
///
/// A failed git command may still have had its effect: git may have been killed after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unconfirmed {
    /// The change happened.
    Done,
    /// The ref did not move.
    NotDone,
    /// Someone else moved it.
    Elsewhere,
}

impl Unconfirmed {
    /// Compares the ref with its state before and after the change.
    pub(crate) fn of(
        before: Option<&CommitId>,
        after: Option<&CommitId>,
        found: Option<&CommitId>,
    ) -> Self {
        if found == after {
            Self::Done
        } else if found == before {
            Self::NotDone
        } else {
            Self::Elsewhere
        }
    }
}

/// Moves a ref if it is where it is expected, with a reason for the reflog. When git fails, the ref is read to find out
/// whether it moved.
///
/// # Errors
/// [`WorkspaceError::RefMoved`] when someone else moved it; git's own error when it did not move, or cannot be read.
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
    let Err(error) = outcome else {
        return Ok(());
    };
    // Read before anything is reported: a caller that took the error for "not moved" would undo work around a ref that
    // did move.
    let Ok(found) = CommonReader::new(git).reference(reference) else {
        return Err(error);
    };
    match (
        Unconfirmed::of(expect.commit(), Some(to), found.as_ref()),
        expect,
    ) {
        (Unconfirmed::Done, _) => {
            tracing::warn!(%error, reference, "git failed after it had moved the ref");
            Ok(())
        }
        (Unconfirmed::Elsewhere, Expect::At(expected)) => Err(WorkspaceError::RefMoved {
            reference: reference.to_owned(),
            expected: expected.clone(),
            found,
        }),
        _ => Err(error),
    }
}

/// Deletes a ref that is at `at`. When git fails, the ref is read to find out whether it was deleted.
pub(crate) fn delete_ref(git: &Git, reference: &str, at: &CommitId) -> Result<(), WorkspaceError> {
    let outcome = git
        .command("update-ref")
        .args([
            "--no-deref",
            "-d",
            "--end-of-options",
            reference,
            at.as_str(),
        ])
        .run();
    let Err(error) = outcome else {
        return Ok(());
    };
    match CommonReader::new(git).reference(reference) {
        Ok(found) if Unconfirmed::of(Some(at), None, found.as_ref()) == Unconfirmed::Done => {
            tracing::warn!(%error, reference, "git failed after it had deleted the ref");
            clear_lock_of_gone(git, reference)
        }
        _ => Err(error),
    }
}

/// Removes the lock of a deleted ref. Git deletes the ref first, and no later command would take and judge that lock.
pub(crate) fn clear_lock_of_gone(git: &Git, reference: &str) -> Result<(), WorkspaceError> {
    let lock = git.place().common_dir.join(format!("{reference}.lock"));
    clear_lock(git.place(), &lock).map(drop)
}

/// Points the `HEAD` of a checkout to a branch. When git fails, `HEAD` is read to find out whether it moved.
pub(crate) fn point_head(git: &Git, branch: &BranchName, why: &str) -> Result<(), WorkspaceError> {
    let reference = branch.reference();
    if HeadFile::read(git) == Some(HeadFile::Reference(reference.clone())) {
        return Ok(());
    }
    let outcome = git
        .command("symbolic-ref")
        .args(["-m", why, "HEAD", &reference])
        .run();
    let Err(error) = outcome else {
        return Ok(());
    };
    match head_reference(git) {
        Ok(Some(found)) if found == reference => {
            tracing::warn!(%error, reference, "git failed after it had moved HEAD");
            Ok(())
        }
        _ => Err(error),
    }
}

/// What a `HEAD` file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadFile {
    /// The full name of a ref.
    Reference(String),
    /// A commit.
    Detached(CommitId),
}

impl HeadFile {
    /// Reads the file of a checkout. `None` where it does not say what is checked out, such as with refs in a table (reftable).
    pub(crate) fn read(git: &Git) -> Option<Self> {
        /// What stands in the file when git keeps `HEAD` elsewhere.
        const ELSEWHERE: &str = "refs/heads/.invalid";
        let text = read_text(&git.place().git_dir.join("HEAD")).ok()?;
        let text = text.trim_end();
        match text.strip_prefix("ref: ") {
            Some(ELSEWHERE) => None,
            Some(name) => name
                .starts_with("refs/heads/")
                .then(|| Self::Reference(name.to_owned())),
            None => CommitId::parse(text).ok().map(Self::Detached),
        }
    }
}

/// Returns the full name of the ref that a checkout has checked out; `None` when detached.
pub(crate) fn head_reference(git: &Git) -> Result<Option<String>, WorkspaceError> {
    match HeadFile::read(git) {
        Some(HeadFile::Reference(name)) => return Ok(Some(name)),
        Some(HeadFile::Detached(_)) => return Ok(None),
        None => {}
    }
    let answer = git
        .command("symbolic-ref")
        .args(["--quiet", "HEAD"])
        .answer(&[0, 1])?;
    let name = String::from_utf8_lossy(&answer.stdout)
        .trim_end()
        .to_owned();
    Ok((!name.is_empty()).then_some(name))
}

/// Points a ref of a single checkout (a detached `HEAD`, or `refs/worktree/…`) to a commit, wherever it was.
pub(crate) fn set_own_ref(
    git: &Git,
    reference: &str,
    to: &CommitId,
    why: &str,
) -> Result<(), WorkspaceError> {
    let outcome = git
        .command("update-ref")
        .args(["-m", why, "--no-deref", "--end-of-options"])
        .args([reference, to.as_str()])
        .run();
    let Err(error) = outcome else {
        return Ok(());
    };
    // libgit2 only reads the common folder.
    let found = git
        .command("rev-parse")
        .args(["--verify", "--quiet", "--end-of-options", reference])
        .answer(&[0, 1]);
    match found {
        Ok(found) if found.stdout.trim_ascii_end() == to.as_str().as_bytes() => Ok(()),
        _ => Err(error),
    }
}

/// Returns the tree of a commit.
pub(crate) fn tree_of(git: &Git, commit: &CommitId) -> Result<CommitId, WorkspaceError> {
    git.command("rev-parse")
        .args(["--verify", "--end-of-options"])
        .arg(format!("{commit}^{{tree}}"))
        .object()
}

/// Makes a commit object, which nothing refers to yet.
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
        let names = self.reader().names_below("refs/heads/")?;
        let names = names
            .iter()
            .filter_map(|name| name.strip_prefix("refs/heads/"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Returns the head of a branch; `None` when it does not exist.
    ///
    /// # Errors
    /// When git fails.
    pub fn branch_head(&self, branch: &BranchName) -> Result<Option<CommitId>, WorkspaceError> {
        self.reader().reference(&branch.reference())
    }

    /// Creates a branch at a commit, unless it exists.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchBlocked`] when the name of another branch is in the way;
    /// [`WorkspaceError::CommitMissing`] when the repository does not have the commit.
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
            // Another process created it at the same moment.
            (Err(_), Some(head)) => Ok(head),
            (Err(error), None) => Err(error),
        }
    }

    /// Checks that Symphony can create branches: no branch may have the name of their folder.
    ///
    /// # Errors
    /// [`WorkspaceError::OwnBranchesBlocked`]; when git fails.
    pub fn require_own_branches(&self) -> Result<(), WorkspaceError> {
        if self.reader().has(&format!("refs/heads/{OWN_BRANCHES}"))? {
            return Err(WorkspaceError::OwnBranchesBlocked);
        }
        Ok(())
    }

    /// Refuses a branch whose name needs a folder where another branch has its file, or the other way round.
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

    /// Returns whether the repository has a commit.
    ///
    /// # Errors
    /// When git fails.
    pub fn has_commit(&self, commit: &CommitId) -> Result<bool, WorkspaceError> {
        self.reader().has_commit(commit)
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
    /// When git fails, or the repository does not have one of the commits.
    pub fn commits_ahead(&self, base: &CommitId, head: &CommitId) -> Result<usize, WorkspaceError> {
        self.reader().ahead(base, head)
    }

    /// Returns whether `commit` is in the history of `of`.
    ///
    /// # Errors
    /// When git fails, or the repository does not have one of the commits.
    pub fn is_merged(&self, commit: &CommitId, of: &CommitId) -> Result<bool, WorkspaceError> {
        self.reader().is_ancestor(commit, of)
    }

    /// Returns whether the repository has `commit`, and has it in the history of `of`.
    ///
    /// # Errors
    /// When git fails, or the repository does not have `of`.
    pub fn has_merged(&self, commit: &CommitId, of: &CommitId) -> Result<bool, WorkspaceError> {
        Ok(self.has_commit(commit)? && self.is_merged(commit, of)?)
    }

    /// Reads a file as it is at a commit (`CLAUDE.md` at the base, an artifact of a delivery); `None` when the commit
    /// has no regular file there.
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

    /// Returns the user's identity from the git configuration of the user and the repository; `None` when name or
    /// address is not set. Merges carry this identity.
    pub fn human_identity(&self) -> Option<Identity> {
        let own = self.git.own_identity();
        let get = |name: &str| own.get(name).cloned();
        let global = self.git.user().identity();
        let name = get("user.name").or_else(|| global.as_ref().map(|user| user.name.clone()));
        let email = get("user.email").or_else(|| global.map(|user| user.email));
        Some(Identity {
            name: name?,
            email: email?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ref_says_what_git_did_not() {
        let commit = |digit: &str| CommitId::parse(&digit.repeat(40)).unwrap();
        let (a, b, c) = (commit("a"), commit("b"), commit("c"));
        let (a, b, c) = (Some(&a), Some(&b), Some(&c));
        for (before, after, found, expected) in [
            (a, b, b, Unconfirmed::Done),
            (a, b, a, Unconfirmed::NotDone),
            (a, b, c, Unconfirmed::Elsewhere),
            (a, b, None, Unconfirmed::Elsewhere),
            (None, b, b, Unconfirmed::Done),
            (None, b, None, Unconfirmed::NotDone),
            (None, b, c, Unconfirmed::Elsewhere),
            (a, None, None, Unconfirmed::Done),
            (a, None, a, Unconfirmed::NotDone),
            (a, None, c, Unconfirmed::Elsewhere),
            // A move that changes nothing is done, whatever git reports.
            (a, a, a, Unconfirmed::Done),
        ] {
            let found_text = format!("{before:?} to {after:?}, found {found:?}");
            assert_eq!(
                Unconfirmed::of(before, after, found),
                expected,
                "{found_text}"
            );
        }
    }
}
