//! What a set-up command left in a worktree that git does not ignore: lock files it rewrote, folders of packages.
//!
//! It is no one's work. While such a path is as the set-up left it, no commit of Symphony's includes it and no hand-in
//! waits for it; once an agent has changed it, it is the agent's. The record is in the repository's git folder, outside
//! of every checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use symphony_core::by_products::SetUpTraces;

use crate::artifact::read_beneath;
use crate::change::{Status, repo_path_text, status_of};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::hex::hex;
use crate::repository::Repository;
use crate::whole_file::write_private;
use crate::worktree::{Worktree, WorktreeKey};

/// Largest file whose contents are compared; of larger ones size and time are.
const COMPARED_BYTES_MAX: u64 = 1024 * 1024;

/// How a path was when the set-up had ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Left {
    /// Size and time of the last change; `None` if the path does not exist.
    mark: Option<(u64, i64, i64)>,
    /// A digest of its contents; `None` for a large file and a missing one.
    digest: Option<String>,
}

impl Repository {
    fn set_up_path(&self, key: &WorktreeKey) -> PathBuf {
        self.common_dir().join("symphony/set-up").join(key.as_str())
    }

    /// Records what is uncommitted in a worktree as left by its set-up command, except what was uncommitted before it
    /// ran.
    ///
    /// # Errors
    /// When git fails, or the record cannot be written.
    pub fn record_set_up(
        &self,
        worktree: &Worktree,
        before: &Status,
    ) -> Result<(), WorkspaceError> {
        let after = status_of(&worktree.git, &self.protected_paths(worktree)?)?;
        let before: BTreeSet<&PathBuf> = before.tracked.iter().chain(&before.untracked).collect();
        let left: BTreeMap<String, Left> = after
            .tracked
            .iter()
            .chain(&after.untracked)
            .filter(|path| !before.contains(path))
            // A name that is not UTF-8 cannot be recorded: it counts as work.
            .filter_map(|path| path.to_str())
            .map(|path| (path.to_owned(), look(worktree.path(), path)))
            .collect();
        let file = self.set_up_path(worktree.key());
        if left.is_empty() {
            return self.forget_set_up(worktree.key());
        }
        let folder = self.common_dir().join("symphony/set-up");
        fs::create_dir_all(&folder)
            .and_then(|()| Ok(serde_json::to_vec(&left)?))
            .and_then(|record| write_private(&file, record))
            .map_err(|source| WorkspaceError::io("write", &file, source))
    }

    /// Returns the paths that are as the set-up command of a worktree left them, for people and prompts.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn left_by_set_up(&self, worktree: &Worktree) -> Result<Vec<String>, WorkspaceError> {
        let paths = self.untouched_since_set_up(worktree)?;
        Ok(paths.iter().map(|path| repo_path_text(path)).collect())
    }

    /// Looks what happened to the files that the set-up command of a worktree left, beside what its commits change
    /// since a base.
    ///
    /// # Errors
    /// When git fails, or the record cannot be read.
    pub fn set_up_traces(
        &self,
        worktree: &Worktree,
        base: &CommitId,
    ) -> Result<SetUpTraces, WorkspaceError> {
        let untouched = self.left_by_set_up(worktree)?;
        let mut traces = SetUpTraces {
            untouched: untouched.into_iter().collect(),
            ..SetUpTraces::default()
        };
        let head = self.head(worktree)?;
        let merge_base = self.reader().merge_base(base, &head)?;
        // most set-ups leave nothing that git does not ignore
        let Some(merge_base) = merge_base.filter(|_| !traces.untouched.is_empty()) else {
            return Ok(traces);
        };
        let status = status_of(&worktree.git, &self.protected_paths(worktree)?)?;
        let uncommitted = status.tracked.iter().chain(&status.untracked);
        traces.uncommitted = uncommitted.map(|path| repo_path_text(path)).collect();
        for file in self.changed_files(&merge_base, &head)? {
            traces.changed.extend(file.old_path);
            traces.changed.insert(file.path);
        }
        Ok(traces)
    }

    /// Returns the paths that no commit takes: copied configuration files, and what the set-up left.
    pub(crate) fn not_work(
        &self,
        worktree: &Worktree,
    ) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        let mut paths = self.protected_paths(worktree)?;
        paths.extend(self.untouched_since_set_up(worktree)?);
        Ok(paths)
    }

    fn untouched_since_set_up(
        &self,
        worktree: &Worktree,
    ) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        let file = self.set_up_path(worktree.key());
        let bytes = match crate::own_file::read_own_file(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(source) => return Err(WorkspaceError::io("read", file, source)),
        };
        // a damaged record makes everything work: nothing is lost
        let left: BTreeMap<String, Left> = serde_json::from_slice(&bytes).unwrap_or_default();
        let is_untouched =
            |(path, left): &(&String, &Left)| is_untouched(worktree.path(), path, left);
        let paths = left
            .iter()
            .filter(is_untouched)
            .map(|(path, _)| path.into());
        Ok(paths.collect())
    }

    /// Forgets a removed worktree's record.
    pub(crate) fn forget_set_up(&self, key: &WorktreeKey) -> Result<(), WorkspaceError> {
        let path = self.set_up_path(key);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(WorkspaceError::io("remove", path, source)),
        }
    }
}

fn look(root: &Path, path: &str) -> Left {
    Left {
        mark: mark(root, path),
        digest: digest(root, path),
    }
}

/// Reads contents only if size or time differ: a folder of packages has thousands of files.
fn is_untouched(root: &Path, path: &str, left: &Left) -> bool {
    mark(root, path) == left.mark || (left.digest.is_some() && digest(root, path) == left.digest)
}

fn mark(root: &Path, path: &str) -> Option<(u64, i64, i64)> {
    let meta = root.join(path).symlink_metadata().ok()?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
}

fn digest(root: &Path, path: &str) -> Option<String> {
    if let Ok(target) = fs::read_link(root.join(path)) {
        return Some(format!("link to {}", target.display()));
    }
    let bytes = read_beneath(root, path, COMPARED_BYTES_MAX).ok()??;
    Some(hex(&Sha256::digest(&bytes)))
}
