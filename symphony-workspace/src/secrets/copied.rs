//! Copied files in commits, by their path: a value of a few characters is a secret too.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::scan::CopiedLeak;
use crate::commit_id::CommitId;
use crate::copy::matching_files;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;
use crate::worktree::Worktree;

impl Repository {
    /// Returns the copied files that a commit of `head` has and `base` has not, sorted. What the base itself tracks
    /// under such a name is the project's own.
    pub(super) fn copied_in(
        &self,
        worktree: Option<&Worktree>,
        base: &CommitId,
        from: Option<&CommitId>,
        head: &CommitId,
    ) -> Result<Vec<CopiedLeak>, WorkspaceError> {
        let mut paths = match worktree {
            Some(worktree) => self.protected_paths(worktree)?,
            None => matching_files(&self.root, &self.workspaces_dir(), &self.options.copy)?,
        };
        let from = from.filter(|from| *from != base);
        for commit in std::iter::once(base).chain(from) {
            for tracked in self.tracked_of(commit, &paths)? {
                paths.remove(&tracked);
            }
        }
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // One query for all files: honest work has none.
        if self.newest_with(base, head, paths.iter())?.is_empty() {
            return Ok(Vec::new());
        }
        let mut leaks = Vec::new();
        for file in paths {
            let commit = self.newest_with(base, head, std::iter::once(&file))?;
            if !commit.is_empty() {
                leaks.push(CopiedLeak { file, commit });
            }
        }
        Ok(leaks)
    }

    /// Returns the newest commit between `base` and `head` that touches one of `paths`, or an empty text.
    fn newest_with<'p>(
        &self,
        base: &CommitId,
        head: &CommitId,
        paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<String, WorkspaceError> {
        let list = self
            .git
            .command("rev-list")
            // a side branch that adds a file and takes it back counts, too
            .args(["--full-history", "-n", "1"])
            .args([head.as_str(), &format!("^{base}"), "--"])
            .args(paths)
            .slow()
            .run()?;
        Ok(String::from_utf8_lossy(&list).trim_end().to_owned())
    }

    /// Returns those of `paths` that a commit has.
    fn tracked_of(
        &self,
        commit: &CommitId,
        paths: &BTreeSet<PathBuf>,
    ) -> Result<Vec<PathBuf>, WorkspaceError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let list = self
            .git
            .command("ls-tree")
            .args(["-z", "--name-only", "--full-tree", commit.as_str(), "--"])
            .args(paths)
            .run()?;
        Ok(fields(&list)
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .collect())
    }
}
