//! A checked change of a file, and writing it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symphony_core::config::{FileRole, KeyPath};

use super::error::ConfigFileError;
use super::read::read_text;
use crate::whole_file::write_whole;

/// What [`set`](super::set) changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key that was set.
    pub path: KeyPath,
    /// The value that it has now.
    pub value: Value,
}

/// A change that is checked and not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What it changes.
    pub change: Change,
    /// The file as it was named.
    pub(super) path: PathBuf,
    pub(super) role: FileRole,
    /// The text that the file would have.
    pub(super) after: String,
    /// The file to write: a link is followed.
    pub(super) target: PathBuf,
    pub(super) before: Option<String>,
}

impl Edit {
    /// Writes the file.
    ///
    /// # Errors
    /// When the file cannot be written, or was changed since the edit was prepared.
    pub fn commit(self) -> Result<Change, ConfigFileError> {
        write(&self.target, self.before.as_deref(), &self.after)?;
        Ok(self.change)
    }
}

/// Writes the new text unless someone else changed the file since it was read.
pub(super) fn write(path: &Path, before: Option<&str>, after: &str) -> Result<(), ConfigFileError> {
    let failed = |source| ConfigFileError::Write {
        path: path.to_path_buf(),
        source,
    };
    if before.is_none()
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    if read_text(path)?.as_deref() != before {
        return Err(ConfigFileError::ChangedMeanwhile {
            path: path.to_path_buf(),
        });
    }
    write_whole(path, after).map_err(failed)
}
