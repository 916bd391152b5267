//! The list of commits whose parents a shallow clone does not have.

use std::fs;
use std::path::Path;

use crate::error::WorkspaceError;

/// Copies the list from one git folder to another, if it exists. Without it, git takes missing parents for damage.
pub(crate) fn copy_shallow(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    let list = from.join("shallow");
    // A pipe in its place would block the copy.
    if !fs::symlink_metadata(&list).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    fs::copy(&list, to.join("shallow"))
        .map(drop)
        .map_err(|source| WorkspaceError::io("copy", list, source))
}
