//! One commit of a branch: by the beginning of its name, and what it changes.

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;

/// Fewest digits that identify a commit: git abbreviates to no fewer.
const DIGITS_MIN: usize = 4;
/// Most commits of a branch that are searched, newest first: a branch of an issue has tens.
const COMMITS_MAX: usize = 10_000;

/// What a commit has at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeEntry {
    /// A regular file, a link or a submodule.
    File,
    /// A folder.
    Folder,
}

impl Repository {
    /// Returns the one commit of `head` that `base` does not have and whose id begins with these digits; `None` if
    /// there is none, or more than one.
    ///
    /// # Errors
    /// When git fails, or one of the two commits is not here.
    pub fn commit_ahead(
        &self,
        base: &CommitId,
        head: &CommitId,
        digits: &str,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        if digits.len() < DIGITS_MIN {
            return Ok(None);
        }
        let list = self
            .git
            .command("rev-list")
            .args([&format!("--max-count={COMMITS_MAX}"), head.as_str()])
            .arg(format!("^{base}"))
            .run()?;
        let list = String::from_utf8_lossy(&list);
        let mut found = list.lines().filter(|name| name.starts_with(digits));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(CommitId::parse(one).ok()),
            _ => Ok(None),
        }
    }

    /// Returns what a commit changes against its first parent; `None` if it has no parent, or the patch is longer than
    /// `patch_bytes_max`.
    ///
    /// # Errors
    /// When git fails, or the commit is not here.
    pub fn commit_patch(
        &self,
        commit: &CommitId,
        patch_bytes_max: usize,
    ) -> Result<Option<String>, WorkspaceError> {
        let Some(parent) = self.reader().first_parent(commit)? else {
            return Ok(None);
        };
        let diff = self.diff(&parent, commit, patch_bytes_max)?;
        Ok((!diff.patch_cut).then_some(diff.patch))
    }

    /// Returns the one commit of the repository whose id begins with these digits; `None` if there is none, or more
    /// than one.
    ///
    /// # Errors
    /// When git fails.
    pub fn commit_named(&self, digits: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let is_name =
            digits.len() >= DIGITS_MIN && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name {
            return Ok(None);
        }
        let answer = self
            .git
            .command("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{digits}^{{commit}}"))
            .answer(&[0, 1, 128])?;
        let found = String::from_utf8_lossy(&answer.stdout);
        // A branch or tag may have a name that looks like the digits of a commit.
        let found = CommitId::parse(found.trim()).ok();
        Ok(found.filter(|commit| commit.as_str().starts_with(digits)))
    }

    /// Lists the files that a commit changes against its first parent; all of its files if it has none.
    ///
    /// # Errors
    /// When git fails, or the commit is not here.
    pub fn files_of_commit(&self, commit: &CommitId) -> Result<Vec<String>, WorkspaceError> {
        let Some(parent) = self.reader().first_parent(commit)? else {
            let list = self
                .git
                .command("ls-tree")
                .args(["-r", "-z", "--name-only", "--full-tree", commit.as_str()])
                .run()?;
            return Ok(fields(&list)
                .map(|path| String::from_utf8_lossy(path).into_owned())
                .collect());
        };
        let changed = self.changed_files(&parent, commit)?;
        Ok(changed
            .into_iter()
            .flat_map(|file| file.old_path.into_iter().chain([file.path]))
            .collect())
    }

    /// Returns what a commit has at a path, if anything. The path is spelled as git prints it.
    ///
    /// # Errors
    /// When git fails, or the commit is not here.
    pub fn tree_entry(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Option<TreeEntry>, WorkspaceError> {
        if path.is_empty() || path.contains(['\0', '\n']) || path.starts_with('/') {
            return Ok(None);
        }
        let list = self
            .git
            .command("ls-tree")
            .args(["-z", "--full-tree", commit.as_str(), "--"])
            .arg(path)
            .run()?;
        let ending = [b"\t", path.as_bytes()].concat();
        let found = fields(&list).find(|entry| entry.ends_with(&ending));
        Ok(found.map(|entry| {
            if entry.starts_with(b"040000") {
                TreeEntry::Folder
            } else {
                TreeEntry::File
            }
        }))
    }
}
