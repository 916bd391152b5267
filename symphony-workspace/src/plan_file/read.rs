//! Reading a plan file.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::WorkspaceError;

/// Largest plan file: a hundred thousand phases with long texts are a tenth of it.
pub const PLAN_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Reads a plan file whole.
///
/// # Errors
/// [`WorkspaceError::FileMissing`] when it is not there, [`WorkspaceError::NotAFile`], [`WorkspaceError::TooLarge`],
/// [`WorkspaceError::NotText`] with the line of the first byte that is not UTF-8.
pub fn read_plan_file(path: &Path) -> Result<String, WorkspaceError> {
    read_text_file(path, PLAN_BYTES_MAX)
}

/// Reads a regular file of UTF-8 text.
pub(crate) fn read_text_file(path: &Path, bytes_max: u64) -> Result<String, WorkspaceError> {
    let file = open_regular(path)?;
    read_text(&file, path, bytes_max)
}

/// Opens a regular file; never blocks, also not on a FIFO.
pub(super) fn open_regular(path: &Path) -> Result<File, WorkspaceError> {
    let nonblocking = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(nonblocking.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    let opened = options.read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => WorkspaceError::FileMissing {
            path: name(path),
            places: vec![path.to_owned()],
        },
        _ => WorkspaceError::io("open", path, source),
    })?;
    let meta = file
        .metadata()
        .map_err(|source| WorkspaceError::io("look at", path, source))?;
    if meta.is_file() {
        Ok(file)
    } else {
        Err(WorkspaceError::NotAFile {
            path: path.to_owned(),
        })
    }
}

/// Reads an open file from its beginning.
pub(super) fn read_text(
    file: &File,
    path: &Path,
    bytes_max: u64,
) -> Result<String, WorkspaceError> {
    // one read for a file of usual size, one for its end
    let expected = file.metadata().map_or(0, |meta| meta.len().min(1 << 20));
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| WorkspaceError::io("read", path, source))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > bytes_max {
        return Err(WorkspaceError::TooLarge {
            path: path.to_owned(),
            bytes: length,
            bytes_max,
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        WorkspaceError::NotText {
            path: path.to_owned(),
            line: before.split(|byte| *byte == b'\n').count(),
        }
    })
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
