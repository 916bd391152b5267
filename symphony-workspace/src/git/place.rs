//! Where git works: three pinned folders.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::library::Library;
use super::program::GitProgram;
use super::user_config::UserConfig;
use crate::error::WorkspaceError;
use crate::own_file::read_file;

/// The folders that every call pins, so that nothing inside the worktree can redirect git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The worktree's own git folder (`<common>/worktrees/<name>`), or the common one.
    pub git_dir: PathBuf,
    /// The repository's git folder.
    pub common_dir: PathBuf,
    /// The checkout.
    pub work_tree: PathBuf,
}

impl Place {
    /// Refuses a git folder whose `commondir` file leads elsewhere. Git reads refs through that file even if
    /// `GIT_COMMON_DIR` is set, so pinning alone would let commits go to a planted repository.
    ///
    /// Also refuses a checkout that was replaced by a symbolic link: another folder's files would be committed or
    /// overwritten.
    pub(crate) fn refuse_redirected(&self) -> Result<(), WorkspaceError> {
        if fs::symlink_metadata(&self.work_tree).is_ok_and(|meta| meta.is_symlink()) {
            return Err(WorkspaceError::Link {
                path: self.work_tree.clone(),
            });
        }
        let pointer = self.git_dir.join("commondir");
        let is_common = self.git_dir == self.common_dir;
        let honest = match read_file(&pointer) {
            Err(error) if error.kind() == ErrorKind::NotFound => is_common,
            Err(source) => return Err(WorkspaceError::io("read", pointer, source)),
            Ok(_) if is_common => false,
            Ok(bytes) => {
                let target = OsStr::from_bytes(bytes.trim_ascii_end());
                self.git_dir
                    .join(target)
                    .canonicalize()
                    .is_ok_and(|target| target == self.common_dir)
            }
        };
        if honest {
            return Ok(());
        }
        Err(WorkspaceError::Tampered {
            path: self.work_tree.clone(),
            what: format!(
                "{} does not lead to {}",
                pointer.display(),
                self.common_dir.display()
            ),
        })
    }
}

#[derive(Debug)]
struct Shared {
    program: GitProgram,
    trusted_filters: Vec<String>,
    user: OnceLock<UserConfig>,
}

/// Git at a place.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    shared: Arc<Shared>,
    place: Place,
    library: Library,
}

impl Git {
    pub(crate) fn new(program: GitProgram, trusted_filters: Vec<String>, place: Place) -> Self {
        Self {
            shared: Arc::new(Shared {
                program,
                trusted_filters,
                user: OnceLock::new(),
            }),
            place,
            library: Library::default(),
        }
    }

    /// Returns the same git at another place.
    pub(crate) fn at(&self, place: Place) -> Self {
        let library = if place.common_dir == self.place.common_dir {
            self.library.clone()
        } else {
            Library::default()
        };
        Self {
            shared: Arc::clone(&self.shared),
            place,
            library,
        }
    }

    /// Returns the repository as libgit2 has it.
    pub(super) fn library(&self) -> &Library {
        &self.library
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn work_tree(&self) -> &Path {
        &self.place.work_tree
    }

    pub(crate) fn program(&self) -> &GitProgram {
        &self.shared.program
    }

    pub(crate) fn trusted_filters(&self) -> &[String] {
        &self.shared.trusted_filters
    }

    /// Returns the user's own configuration, which is read once.
    pub(crate) fn user(&self) -> &UserConfig {
        self.shared
            .user
            .get_or_init(|| UserConfig::load(&self.shared.program))
    }
}
