//! The folder of a clone before anything was fetched.

use std::fs;
use std::path::Path;

use crate::error::WorkspaceError;
use crate::pristine::{FOLDERS, config_text};
use crate::whole_file::write_whole;

/// The branch that `HEAD` names until the base is known.
const FIRST_BRANCH: &str = "ref: refs/heads/main\n";
/// Makes an empty repository in a folder, unless there is one: without a template, so without its hooks. Two workers may do so at the
/// same moment, since both write the same.
pub(super) fn lay_out(folder: &Path) -> Result<(), WorkspaceError> {
    let git_dir = folder.join(".git");
    if git_dir.join("HEAD").is_file() && git_dir.join("config").is_file() {
        return Ok(());
    }
    for below in FOLDERS {
        let path = git_dir.join(below);
        fs::create_dir_all(&path).map_err(|source| WorkspaceError::io("make", path, source))?;
    }
    write_config(&git_dir, false)?;
    // `HEAD` comes last: without it this is no repository, and the next worker begins again.
    write(&git_dir.join("HEAD"), FIRST_BRANCH)
}

/// Lets an empty repository have objects with SHA-256.
pub(super) fn use_sha256(git_dir: &Path) -> Result<(), WorkspaceError> {
    write_config(git_dir, true)
}

fn write_config(git_dir: &Path, is_sha256: bool) -> Result<(), WorkspaceError> {
    let text = config_text(git_dir, git_dir, is_sha256);
    write(&git_dir.join("config"), &text)
}

fn write(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    write_whole(path, text.as_bytes()).map_err(|source| WorkspaceError::io("write", path, source))
}
