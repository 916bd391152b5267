//! Writes the configuration file of a new project.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use symphony_core::config::InitFile;
use symphony_core::trial::{Trial, without_old_remarks};

use super::error::ConfigFileError;
use super::lookup::CONFIG_FILE_NAME;
use super::read::read_text;
use crate::whole_file::{write_new, write_whole};

/// Writes the commented file into a project's root, and returns its path.
///
/// # Errors
/// [`ConfigFileError::Exists`] when there is one already, which is never touched.
pub fn write_init(root: &Path, file: &InitFile) -> Result<PathBuf, ConfigFileError> {
    let path = root.join(CONFIG_FILE_NAME);
    match write_new(&path, file.render()) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(ConfigFileError::Exists { path })
        }
        Err(source) => Err(ConfigFileError::Write { path, source }),
    }
}

/// Removes comments from the file that a later trial of the gates has made untrue; returns whether there were any.
///
/// # Errors
/// When the file cannot be read or written.
pub fn remove_old_remarks(root: &Path, trial: &Trial) -> Result<bool, ConfigFileError> {
    let path = root.join(CONFIG_FILE_NAME);
    let Some(text) = read_text(&path)? else {
        return Ok(false);
    };
    let Some(text) = without_old_remarks(&text, trial) else {
        return Ok(false);
    };
    write_whole(&path, text)
        .map(|()| true)
        .map_err(|source| ConfigFileError::Write { path, source })
}

/// Writes the file again, with what was found out since; returns whether it did. A file that was changed meanwhile is
/// left as it is.
///
/// # Errors
/// When the file cannot be read or written.
pub fn rewrite_init(
    root: &Path,
    before: &InitFile,
    after: &InitFile,
) -> Result<bool, ConfigFileError> {
    let path = root.join(CONFIG_FILE_NAME);
    if read_text(&path)?.as_deref() != Some(before.render().as_str()) {
        return Ok(false);
    }
    write_whole(&path, after.render())
        .map(|()| true)
        .map_err(|source| ConfigFileError::Write { path, source })
}
