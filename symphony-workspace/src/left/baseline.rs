//! What was in a worktree before an agent worked there.
//!
//! Recorded once, after the set-up, in the repository's git folder, outside of every checkout. Later runs in the same
//! worktree compare with the same record, so that what the first one left does not become usual for the second.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use symphony_core::left_behind::Baseline;

use crate::error::WorkspaceError;
use crate::repository::Repository;
use crate::whole_file::write_private;
use crate::worktree::{Worktree, WorktreeKey};

impl Repository {
    fn baseline_path(&self, key: &WorktreeKey) -> PathBuf {
        self.common_dir()
            .join("symphony/baseline")
            .join(key.as_str())
    }

    /// Records what is ignored in a worktree, and a digest of each copied file, unless that is recorded. Files that
    /// were copied since the last call are added.
    ///
    /// # Errors
    /// When git fails, or the record cannot be written.
    pub fn record_baseline(&self, worktree: &Worktree) -> Result<(), WorkspaceError> {
        let old = self.baseline(worktree.key())?;
        let mut new = match &old {
            Some(old) => old.clone(),
            None => Baseline {
                ignored: self.ignored_paths(worktree)?,
                copied: std::collections::BTreeMap::new(),
            },
        };
        for (path, digest) in self.copied_digests(worktree)? {
            new.copied.entry(path).or_insert(digest);
        }
        if old.as_ref() == Some(&new) {
            return Ok(());
        }
        let path = self.baseline_path(worktree.key());
        let folder = self.common_dir().join("symphony/baseline");
        fs::create_dir_all(&folder)
            .and_then(|()| Ok(serde_json::to_vec(&new)?))
            .and_then(|record| write_private(&path, record))
            .map_err(|source| WorkspaceError::io("write", &path, source))
    }

    /// Returns the record of a worktree; `None` if no agent has worked there yet, or the record is damaged.
    pub(super) fn baseline(&self, key: &WorktreeKey) -> Result<Option<Baseline>, WorkspaceError> {
        let path = self.baseline_path(key);
        match crate::own_file::read_own_file(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WorkspaceError::io("read", path, source)),
        }
    }

    /// Forgets a removed worktree's record.
    pub(crate) fn forget_baseline(&self, key: &WorktreeKey) -> Result<(), WorkspaceError> {
        let path = self.baseline_path(key);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(WorkspaceError::io("remove", path, source)),
        }
    }
}
