//! Which files were copied into which worktree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::patterns::matching_files;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;
use crate::whole_file::write_private;
use crate::worktree::{Worktree, WorktreeKey};

impl Repository {
    /// The record is in the repository's git folder, outside of every checkout.
    fn record_path(&self, key: &WorktreeKey) -> PathBuf {
        self.common_dir().join("symphony/copied").join(key.as_str())
    }

    /// Returns the recorded files; empty if nothing was recorded.
    pub(super) fn copied_files(
        &self,
        key: &WorktreeKey,
    ) -> Result<Option<BTreeSet<PathBuf>>, WorkspaceError> {
        let path = self.record_path(key);
        match crate::own_file::read_own_file(&path) {
            Ok(bytes) => Ok(Some(
                fields(&bytes)
                    .map(|path| OsStr::from_bytes(path).into())
                    .collect(),
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WorkspaceError::io("read", path, source)),
        }
    }

    pub(super) fn remember_copied(
        &self,
        key: &WorktreeKey,
        copied: &BTreeSet<PathBuf>,
    ) -> Result<(), WorkspaceError> {
        let path = self.record_path(key);
        let folder = self.common_dir().join("symphony/copied");
        let mut record = Vec::new();
        for copied in copied {
            record.extend_from_slice(copied.as_os_str().as_bytes());
            record.push(0);
        }
        fs::create_dir_all(&folder)
            .and_then(|()| write_private(&path, record))
            .map_err(|source| WorkspaceError::io("write", &path, source))
    }

    /// Forgets a removed worktree's record.
    pub(crate) fn forget_copied(&self, key: &WorktreeKey) -> Result<(), WorkspaceError> {
        let path = self.record_path(key);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(source) => Err(WorkspaceError::io("remove", path, source)),
        }
    }

    /// Returns the files of a worktree that no commit may take: the recorded ones, and, should the
    /// record be lost, whatever the configuration would copy and the commit does not have.
    pub(crate) fn protected_paths(
        &self,
        worktree: &Worktree,
    ) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        if let Some(copied) = self.copied_files(worktree.key())? {
            return Ok(copied);
        }
        let mut paths = matching_files(&self.root, &self.workspaces_dir(), &self.options.copy)?;
        if paths.is_empty() {
            return Ok(paths);
        }
        let committed = worktree
            .git
            .command("ls-tree")
            .args(["-z", "--name-only", "--full-tree", "HEAD", "--"])
            .args(&paths)
            .run()?;
        for path in fields(&committed) {
            paths.remove(&PathBuf::from(OsStr::from_bytes(path)));
        }
        Ok(paths)
    }
}
