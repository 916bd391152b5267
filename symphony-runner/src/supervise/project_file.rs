//! The project's own files for prompts: CLAUDE.md and WORKFLOW.md.

use std::path::Path;

use crate::error::RunnerError;

/// How many bytes of a project's own prompt file (CLAUDE.md, WORKFLOW.md) are read.
pub(crate) const PROMPT_FILE_BYTES_MAX: usize = 1024 * 1024;

/// Reads a prompt file of the project. Links are not followed, and a missing file is `None`.
pub(crate) fn read_own(path: &Path) -> Result<Option<String>, RunnerError> {
    let failed = |error| RunnerError::io("read", path, error);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() <= PROMPT_FILE_BYTES_MAX as u64 => {
            let bytes = symphony_workspace::read_own_file(path).map_err(failed)?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}
