//! What is in a worktree now, beside what git would commit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use symphony_core::left_behind::{LeftBehind, Remains, left_behind};

use crate::artifact::read_beneath;
use crate::change::repo_path_text;
use crate::commit_id::CommitId;
use crate::copy::{COPY_BYTES_MAX, is_temporary};
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::hex::hex;
use crate::repository::Repository;
use crate::worktree::Worktree;

/// The record of a copied file that exists and cannot be read: a folder, a link, an oversized file.
const UNREADABLE: &str = "unreadable";

impl Repository {
    /// Returns what a worktree holds that no commit has and that is neither usual nor was there before an agent worked
    /// there (`symphony_core::left_behind`). Nothing is known of a worktree without a baseline but its nested
    /// repositories.
    ///
    /// # Errors
    /// When git fails.
    pub fn left_behind(
        &self,
        worktree: &Worktree,
        base: Option<&CommitId>,
    ) -> Result<Vec<LeftBehind>, WorkspaceError> {
        let inner = self.inner_work(worktree, base)?;
        let mut now = Remains {
            repositories: inner.nested,
            submodules: inner.submodules,
            unfiltered: self.unfiltered_paths(worktree)?,
            ..Remains::default()
        };
        let before = self.baseline(worktree.key())?;
        if before.is_some() {
            now.ignored = self.ignored_paths(worktree)?;
            now.copied = self.copied_digests(worktree)?;
            let is_repository = |path: &&String| {
                fs::symlink_metadata(worktree.path().join(path).join(".git")).is_ok()
            };
            let repositories: Vec<String> =
                now.ignored.iter().filter(is_repository).cloned().collect();
            now.repositories
                .extend(unusual(repositories, before.as_ref()));
        }
        Ok(left_behind(&before.unwrap_or_default(), &now))
    }

    /// Lists the uncommitted files with a filter that Symphony may not run.
    fn unfiltered_paths(&self, worktree: &Worktree) -> Result<BTreeSet<String>, WorkspaceError> {
        if self.idle_filters()?.is_empty() {
            return Ok(BTreeSet::new());
        }
        let found = self.unfiltered(worktree, &self.status(worktree)?)?;
        let named = |(path, filter): (&std::path::PathBuf, &String)| {
            format!("{}: filter {filter}", path.display())
        };
        Ok(found.iter().map(named).collect())
    }

    /// Lists what git ignores in a worktree; a folder that is ignored as a whole ends with `/`. Copied files are not
    /// among them.
    pub(super) fn ignored_paths(
        &self,
        worktree: &Worktree,
    ) -> Result<BTreeSet<String>, WorkspaceError> {
        let list = worktree
            .git
            .command("status")
            .args(["--porcelain=v2", "-z", "--untracked-files=normal"])
            .args(["--ignored=matching", "--no-renames"])
            .arg("--ignore-submodules=all")
            .slow()
            .run()?;
        let protected = self.protected_paths(worktree)?;
        let ignored = fields(&list).filter_map(|record| record.strip_prefix(b"! "));
        Ok(ignored
            .map(|path| Path::new(OsStr::from_bytes(path)))
            .filter(|path| !protected.contains(*path) && !is_temporary(path))
            .map(repo_path_text)
            .collect())
    }

    /// Returns a digest of each copied file that is in a worktree.
    pub(super) fn copied_digests(
        &self,
        worktree: &Worktree,
    ) -> Result<BTreeMap<String, String>, WorkspaceError> {
        let mut digests = BTreeMap::new();
        for path in self.protected_paths(worktree)? {
            let text = repo_path_text(&path);
            match read_beneath(worktree.path(), &text, COPY_BYTES_MAX) {
                Ok(Some(bytes)) => {
                    digests.insert(text, hex(&Sha256::digest(&bytes)));
                }
                Ok(None) => {}
                Err(_) => {
                    digests.insert(text, UNREADABLE.to_owned());
                }
            }
        }
        Ok(digests)
    }
}

/// Leaves out what was there before, or is of the kind that tools make: dependencies are often repositories.
fn unusual(
    repositories: Vec<String>,
    before: Option<&symphony_core::left_behind::Baseline>,
) -> BTreeSet<String> {
    let now = Remains {
        ignored: repositories.into_iter().collect(),
        ..Remains::default()
    };
    let before = before.cloned().unwrap_or_default();
    let left = left_behind(&before, &now).into_iter();
    left.map(|left| left.path).collect()
}
