//! Reading the text of a configuration file.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::error::ConfigFileError;

/// Largest configuration file: far above any real one, and small enough to hold in memory twice.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads the text of a file; nothing when it does not exist.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, ConfigFileError> {
    let failed = |source| ConfigFileError::Read {
        path: path.to_path_buf(),
        source,
    };
    // Without NONBLOCK, opening a named pipe would wait for a writer.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = match std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
    {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(ConfigFileError::NotAFile {
            path: path.to_path_buf(),
        });
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigFileError::TooLarge {
            path: path.to_path_buf(),
            bytes: std::fs::metadata(path).map_err(failed)?.len(),
            bytes_max: FILE_BYTES_MAX,
        });
    }
    let text = String::from_utf8(bytes).map_err(|error| ConfigFileError::NotUtf8 {
        path: path.to_path_buf(),
        valid_up_to: error.utf8_error().valid_up_to(),
    })?;
    Ok(Some(text))
}
