//! Copying configuration files into a worktree.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::patterns::{is_kept_out, matching_files};
use crate::error::WorkspaceError;
use crate::hex::hex;
use crate::linux::{Folder, is_link_error};
use crate::repository::Repository;
use crate::worktree::Worktree;

/// Largest file that is copied: configuration, not data.
pub(crate) const COPY_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Name of a file that is not complete yet; it may hold a secret, should a crash leave it.
const TEMPORARY_PREFIX: &str = ".symphony-copy-";

/// Returns whether a path is a half-copied file, which must not be committed.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
}

/// A file that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyProblem {
    /// The file, relative to the project.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// What a copy did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Files that were copied, now or by an earlier call; none of them is ever committed.
    pub copied: Vec<PathBuf>,
    /// Files that were left out.
    pub problems: Vec<CopyProblem>,
}

impl Repository {
    /// Copies `.env`, `.env.local` and what the configured patterns match from the project into a
    /// worktree. What exists there is not touched; permissions are kept; no link is followed, in the
    /// project or in the worktree. The copied files are remembered and kept out of every commit, and
    /// so is Symphony's configuration, which is not copied.
    ///
    /// # Errors
    /// [`WorkspaceError::Pattern`] for an unusable pattern; else when the worktree cannot be written.
    pub fn copy_config_files(&self, worktree: &Worktree) -> Result<CopyReport, WorkspaceError> {
        let CopyReport {
            copied: now,
            problems,
        } = copy_into(self, worktree.path())?;
        let mut protected = self.copied_files(worktree.key())?.unwrap_or_default();
        protected.extend(now);
        let kept_out = kept_out(self)?;
        // what the project tracks is the project's own
        let is_absent = |path: &&PathBuf| fs::symlink_metadata(worktree.path().join(path)).is_err();
        protected.extend(kept_out.iter().filter(is_absent).cloned());
        self.remember_copied(worktree.key(), &protected)?;
        Ok(CopyReport {
            copied: protected.difference(&kept_out).cloned().collect(),
            problems,
        })
    }

    /// Returns a digest of the files that a new checkout would get copied now: their paths,
    /// permissions and contents. What ran with one digest says nothing about another.
    ///
    /// # Errors
    /// As [`Repository::copy_config_files`].
    pub fn copied_digest(&self) -> Result<String, WorkspaceError> {
        digest_of(self)
    }
}

/// Copies the configuration files of a project into a folder; the report names only what was copied now.
pub(crate) fn copy_into(
    repository: &Repository,
    target: &Path,
) -> Result<CopyReport, WorkspaceError> {
    let mut report = CopyReport::default();
    let from = folder(&repository.root)?;
    let into = folder(target)?;
    for path in candidates(repository)? {
        match copy(&from, &into, &path) {
            Ok(true) => report.copied.push(path),
            Ok(false) => {}
            Err(reason) => report.problems.push(CopyProblem { path, reason }),
        }
    }
    Ok(report)
}

fn candidates(repository: &Repository) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let mut files = matching(repository)?;
    files.retain(|path| !is_kept_out(path, &repository.options.copy));
    Ok(files)
}

/// Returns the files of Symphony's own that a copy leaves out.
fn kept_out(repository: &Repository) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let mut files = matching(repository)?;
    files.retain(|path| is_kept_out(path, &repository.options.copy));
    Ok(files)
}

fn matching(repository: &Repository) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    matching_files(
        &repository.root,
        &repository.workspaces_dir(),
        &repository.options.copy,
    )
}

/// Returns a digest of the files that a checkout gets copied: their paths, permissions and contents.
///
/// # Errors
/// As [`Repository::copy_config_files`].
pub(super) fn digest_of(repository: &Repository) -> Result<String, WorkspaceError> {
    let from = folder(&repository.root)?;
    let mut digest = Sha256::new();
    for path in candidates(repository)? {
        // A file that cannot be copied is not in the checkout either.
        let Ok(source) = from.read(&path) else {
            continue;
        };
        let Ok(meta) = source.metadata() else {
            continue;
        };
        let mut contents = Vec::new();
        let read = source.take(COPY_BYTES_MAX + 1).read_to_end(&mut contents);
        if read.is_err() || !meta.is_file() || meta.size() > COPY_BYTES_MAX {
            continue;
        }
        digest.update(path.as_os_str().as_bytes());
        digest.update([0]);
        digest.update(meta.permissions().mode().to_le_bytes());
        digest.update((contents.len() as u64).to_le_bytes());
        digest.update(&contents);
    }
    Ok(hex(&digest.finalize()))
}

fn folder(path: &Path) -> Result<Folder, WorkspaceError> {
    Folder::open(path).map_err(|source| WorkspaceError::io("open the folder", path, source))
}

/// Copies one file; false when the worktree has something of that name.
fn copy(from: &Folder, into: &Folder, path: &Path) -> Result<bool, String> {
    let source = from.read(path).map_err(|error| explain(&error))?;
    let meta = source.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a regular file".to_owned());
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
    // One of an earlier process with this number: it is no one's.
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
