//! The list of commits whose parents a shallow clone does not have.

use std::fs;
use std::path::Path;

use crate::error::WorkspaceError;

/// Copies the list from one git folder to another, if there is one: without it, git takes missing parents for damage.
pub(crate) fn copy_shallow(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    let list = from.join("shallow");
    // a pipe in its place would keep the copy waiting
    if !fs::symlink_metadata(&list).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    fs::copy(&list, to.join("shallow"))
        .map(drop)
        .map_err(|source| WorkspaceError::io("copy", list, source))
}
