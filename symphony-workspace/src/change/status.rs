//! What is uncommitted in a worktree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::operation;
use crate::agent_git::added_worktrees;
use crate::commit_id::CommitId;
use crate::copy::is_temporary;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};
use crate::repository::Repository;
use crate::worktree::Worktree;

/// The uncommitted paths of a worktree, relative to it. Copied configuration files and ignored files
/// never count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Tracked files that differ from the commit, in the folder or in the index.
    pub tracked: Vec<PathBuf>,
    /// Those of them that are gone from the folder, or now behind a symbolic link.
    pub deleted: Vec<PathBuf>,
    /// Those of them that a merge left with conflicts.
    pub conflicted: Vec<PathBuf>,
    /// Untracked files.
    pub untracked: Vec<PathBuf>,
    /// Repositories inside the worktree; git cannot commit what is in them.
    pub embedded: Vec<PathBuf>,
}

impl Status {
    /// Returns whether tracked files are changed: what "dirty" means (config.md).
    pub fn is_dirty(&self) -> bool {
        !self.tracked.is_empty()
    }

    /// Returns whether there is nothing to commit.
    pub fn is_clean(&self) -> bool {
        self.tracked.is_empty() && self.untracked.is_empty()
    }

    /// Removes paths that are not part of a commit.
    pub(crate) fn without(mut self, left_out: &BTreeSet<PathBuf>) -> Self {
        self.tracked.retain(|path| !left_out.contains(path));
        self.untracked.retain(|path| !left_out.contains(path));
        self
    }

    /// Returns the paths whose contents a commit of everything would have.
    pub(crate) fn present(&self) -> impl Iterator<Item = &PathBuf> {
        let gone: BTreeSet<&PathBuf> = self.deleted.iter().collect();
        self.tracked
            .iter()
            .filter(move |path| !gone.contains(path))
            .chain(&self.untracked)
    }
}

/// Asks git; paths in `protected` are left out.
pub(crate) fn status_of(
    git: &Git,
    protected: &BTreeSet<PathBuf>,
) -> Result<Status, WorkspaceError> {
    let list = git
        .command("status")
        .args([
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--no-renames",
        ])
        .arg("--ignore-submodules=all")
        .slow()
        .run()?;
    Ok(parse_status(&list, protected))
}

/// Returns the tracked paths that differ: what is in the way of moving a checkout.
pub(crate) fn tracked_changes(git: &Git) -> Result<Vec<String>, WorkspaceError> {
    let list = git
        .command("status")
        .args([
            "--porcelain=v2",
            "-z",
            "--untracked-files=no",
            "--no-renames",
        ])
        .arg("--ignore-submodules=all")
        .slow()
        .run()?;
    let status = parse_status(&list, &BTreeSet::new());
    Ok(status
        .tracked
        .iter()
        .map(|path| repo_path_text(path))
        .collect())
}

/// Reads porcelain v2: the path is the 9th field of a changed entry, the 11th of a conflict.
fn parse_status(list: &[u8], protected: &BTreeSet<PathBuf>) -> Status {
    let mut status = Status::default();
    for record in fields(list) {
        let (skip, conflicted) = match record.first() {
            Some(b'1') => (8, false),
            Some(b'u') => (10, true),
            Some(b'?') => (1, false),
            _ => continue,
        };
        let Some(path) = record.splitn(skip + 1, |byte| *byte == b' ').nth(skip) else {
            continue;
        };
        if let Some(folder) = path.strip_suffix(b"/") {
            status.embedded.push(OsStr::from_bytes(folder).into());
            continue;
        }
        let path = PathBuf::from(OsStr::from_bytes(path));
        if protected.contains(&path) || is_temporary(&path) {
            continue;
        }
        if record.first() == Some(&b'?') {
            status.untracked.push(path);
            continue;
        }
        if conflicted {
            status.conflicted.push(path.clone());
        }
        // The mode in the folder comes before the ids of the blobs.
        let mode = record
            .split(|byte| *byte == b' ')
            .nth(if conflicted { 6 } else { 5 });
        if mode == Some(b"000000") {
            status.deleted.push(path.clone());
        }
        status.tracked.push(path);
    }
    status
}

/// Returns a path as text for people and records.
pub(crate) fn repo_path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Repository {
    /// Returns what is uncommitted in a worktree, except what its set-up command left there.
    ///
    /// # Errors
    /// When git fails.
    pub fn status(&self, worktree: &Worktree) -> Result<Status, WorkspaceError> {
        let mut status = status_of(&worktree.git, &self.not_work(worktree)?)?;
        for folder in added_worktrees(worktree.path(), &status.untracked) {
            status.untracked.retain(|path| !path.starts_with(&folder));
            status.embedded.push(folder);
        }
        Ok(status)
    }

    /// Returns whether a worktree holds no work: no commit that `base` lacks, nothing uncommitted except what the
    /// set-up command left, no unfinished merge or rebase, no repository inside. Ignored files do not count.
    ///
    /// # Errors
    /// When git fails.
    pub fn is_without_work(
        &self,
        worktree: &Worktree,
        base: &CommitId,
    ) -> Result<bool, WorkspaceError> {
        let git = &worktree.git;
        if operation::in_sequence(git) || !operation::merge_heads(git).is_empty() {
            return Ok(false);
        }
        let status = self.status(worktree)?;
        let is_clean = status.is_clean() && status.embedded.is_empty();
        Ok(is_clean && self.is_merged(&self.head(worktree)?, base)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_is_read() {
        let list = b"1 .M N... 100644 100644 100644 aa bb a file\x001 .D N... 100644 100644 000000 aa aa gone\0u UU N... 1 2 3 4 h1 h2 h3 both\x001 A. N... 0 1 1 00 aa .env\0? new\nline\0? .env.local\0? sub/.symphony-copy-7\0? sub/\0! ignored\0";
        let protected = [PathBuf::from(".env"), PathBuf::from(".env.local")].into();
        assert_eq!(
            parse_status(list, &protected),
            Status {
                tracked: vec!["a file".into(), "gone".into(), "both".into()],
                deleted: vec!["gone".into()],
                conflicted: vec!["both".into()],
                untracked: vec!["new\nline".into()],
                embedded: vec!["sub".into()],
            }
        );
    }
}
