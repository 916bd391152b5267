//! Artifacts of phase deliveries, read from the file system.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::linux::{Folder, is_link_error};

/// Largest artifact that is read: a long document is a tenth of it.
pub const ARTIFACT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// An artifact that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The folder it was found in, one of those given.
    pub place: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// Returns its text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Reads a file by its relative path from the first of `places` that has it: the worktree, then the
/// project's root (contracts.md). Links are not followed, and nothing but a regular file is read.
///
/// # Errors
/// [`WorkspaceError::FileMissing`] names all places; [`WorkspaceError::Link`],
/// [`WorkspaceError::NotAFile`] and [`WorkspaceError::TooLarge`] name the file.
pub fn read_artifact(path: &str, places: &[&Path]) -> Result<Artifact, WorkspaceError> {
    for place in places {
        if let Some(bytes) = read_beneath(place, path, ARTIFACT_BYTES_MAX)? {
            return Ok(Artifact {
                place: (*place).to_owned(),
                bytes,
            });
        }
    }
    Err(WorkspaceError::FileMissing {
        path: path.to_owned(),
        places: places.iter().map(|place| place.join(path)).collect(),
    })
}

/// Reads a regular file below a folder; `None` if there is no such file.
///
/// # Errors
/// As [`read_artifact`], but for the missing file.
pub fn read_beneath(
    folder: &Path,
    path: &str,
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let full = folder.join(path);
    let opened = Folder::open(folder).and_then(|folder| folder.read(Path::new(path)));
    let file = match opened {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) if is_link_error(&error) => return Err(WorkspaceError::Link { path: full }),
        Err(source) => return Err(WorkspaceError::io("open", full, source)),
    };
    let meta = file
        .metadata()
        .map_err(|source| WorkspaceError::io("look at", &full, source))?;
    if !meta.is_file() {
        return Err(WorkspaceError::NotAFile { path: full });
    }
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| WorkspaceError::io("read", &full, source))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > bytes_max {
        return Err(WorkspaceError::TooLarge {
            path: full,
            bytes: meta.len().max(length),
            bytes_max,
        });
    }
    Ok(Some(bytes))
}
