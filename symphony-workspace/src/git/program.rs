//! Where the git program is.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;

/// The git program by its full path, and the `PATH` that it may find its helpers in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitProgram {
    path: PathBuf,
    search: OsString,
}

impl GitProgram {
    /// Finds git in this process's `PATH`. Relative entries are dropped: they would mean another
    /// program in each folder.
    ///
    /// # Errors
    /// [`WorkspaceError::GitMissing`] when no absolute entry holds it.
    pub fn find() -> Result<Self, WorkspaceError> {
        let folders: Vec<PathBuf> = env::var_os("PATH")
            .map(|path| {
                env::split_paths(&path)
                    .filter(|p| p.is_absolute())
                    .collect()
            })
            .unwrap_or_default();
        let search = env::join_paths(&folders).unwrap_or_default();
        folders
            .iter()
            .map(|folder| folder.join("git"))
            .find(|candidate| is_executable(candidate))
            .map(|path| Self {
                path,
                search: search.clone(),
            })
            .ok_or_else(|| WorkspaceError::GitMissing {
                searched: search.to_string_lossy().into_owned(),
            })
    }

    /// Returns the program's full path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn search(&self) -> &OsString {
        &self.search
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
