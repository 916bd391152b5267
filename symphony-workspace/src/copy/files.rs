//! Copying configuration files into a worktree.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::patterns::matching_files;
use crate::error::WorkspaceError;
use crate::linux::{Folder, is_link_error};
use crate::repository::Repository;
use crate::worktree::Worktree;

/// Largest file that is copied: configuration, not data.
const COPY_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Name of a file that is not complete yet; it may hold a secret, should a crash leave it.
const TEMPORARY_PREFIX: &str = ".symphony-copy-";

/// Says whether a path is a half-copied file, which no commit may take.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
}

/// A file that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyProblem {
    /// The file, relative to the project.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What a copy did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Files that were copied, now or on an earlier call; none of them is ever committed.
    pub copied: Vec<PathBuf>,
    /// Files that were left out.
    pub problems: Vec<CopyProblem>,
}

impl Repository {
    /// Copies `.env`, `.env.local`, `symphony.config.json` and what the configured patterns match
    /// from the project into a worktree. What exists there is not touched; permissions are kept;
    /// no link is followed, in the project or in the worktree. The copied files are remembered and
    /// kept out of every commit.
    ///
    /// # Errors
    /// [`WorkspaceError::Pattern`] for an unusable pattern; else when the worktree cannot be written.
    pub fn copy_config_files(&self, worktree: &Worktree) -> Result<CopyReport, WorkspaceError> {
        let workspaces = self.workspaces_dir();
        let candidates = matching_files(&self.root, &workspaces, &self.options.copy)?;
        let from = folder(&self.root)?;
        let into = folder(worktree.path())?;
        let mut copied = self.copied_files(worktree.key())?.unwrap_or_default();
        let mut problems = Vec::new();
        for path in candidates {
            match copy(&from, &into, &path) {
                Ok(true) => {
                    copied.insert(path);
                }
                Ok(false) => {}
                Err(reason) => problems.push(CopyProblem { path, reason }),
            }
        }
        self.remember_copied(worktree.key(), &copied)?;
        Ok(CopyReport {
            copied: copied.into_iter().collect(),
            problems,
        })
    }
}

fn folder(path: &Path) -> Result<Folder, WorkspaceError> {
    Folder::open(path).map_err(|source| WorkspaceError::io("open the folder", path, source))
}

/// Copies one file; false when the worktree has something of that name.
fn copy(from: &Folder, into: &Folder, path: &Path) -> Result<bool, String> {
    let source = from.read(path).map_err(|error| explain(&error))?;
    let meta = source.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if meta.size() > COPY_BYTES_MAX {
        return Err(format!(
            "it has {} bytes; expected at most {COPY_BYTES_MAX}",
            meta.size()
        ));
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let name = Path::new(path.file_name().unwrap_or_default());
    let place = into.make_folder(parent).map_err(|error| explain(&error))?;
    let temporary = PathBuf::from(format!("{TEMPORARY_PREFIX}{}", std::process::id()));
    // One of an earlier process with this number: it is nobody's.
    discard(&place, &temporary);
    let done = write(&place, &temporary, source, meta.permissions().mode())
        .and_then(|()| place.rename_new(&temporary, name));
    match done {
        Ok(()) => Ok(true),
        Err(error) => {
            discard(&place, &temporary);
            if error.kind() == ErrorKind::AlreadyExists {
                Ok(false)
            } else {
                Err(explain(&error))
            }
        }
    }
}

fn discard(place: &Folder, temporary: &Path) {
    match place.remove(temporary) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => tracing::debug!(%error, "a temporary file could not be removed"),
    }
}

fn write(place: &Folder, temporary: &Path, source: File, mode: u32) -> io::Result<()> {
    let mut target = place.create(temporary)?;
    let mut limited = source.take(COPY_BYTES_MAX);
    io::copy(&mut limited, &mut target)?;
    target.flush()?;
    target.set_permissions(Permissions::from_mode(mode & 0o777))?;
    target.sync_all()
}

fn explain(error: &io::Error) -> String {
    if is_link_error(error) {
        "a symbolic link is on the way".to_owned()
    } else {
        error.to_string()
    }
}
