//! The marker of a repository: beside the folders of its runs, and once more in its git folder, which `git clean -fdx`
//! leaves alone and which is not cloned.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use symphony_core::identity::Marker;

use crate::error::WorkspaceError;
use crate::plan_file::read_text_file;
use crate::repository::discover;
use crate::whole_file::write_whole;

/// The marker beside the folders of runs.
const BESIDE_RUNS: &str = ".symphony/installation.json";
/// The marker in the git folder.
const IN_GIT_DIR: &str = "symphony-installation.json";
/// Most of a marker that is read: it is one line.
const BYTES_MAX: u64 = 64 * 1024;

/// Reads the marker of a repository: the one beside its runs, or else the one in its git folder.
pub fn read_marker(root: &Path) -> Option<Marker> {
    read(&root.join(BESIDE_RUNS)).or_else(|| read(&in_git_dir(root)?))
}

/// Writes the marker of a repository, both of them.
///
/// # Errors
/// When one cannot be written; the one in the git folder is written first.
pub fn write_marker(root: &Path, marker: &Marker) -> Result<(), WorkspaceError> {
    let text = marker.to_text();
    // The one beside the runs comes last: who finds it does not look for the other one.
    if let Some(path) = in_git_dir(root) {
        write(&path, &text)?;
    }
    let path = root.join(BESIDE_RUNS);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|source| WorkspaceError::io("create the folder", folder, source))?;
    }
    write(&path, &text)
}

/// Removes the marker of a repository that no longer belongs to an installation.
///
/// # Errors
/// When one cannot be removed.
pub fn remove_marker(root: &Path) -> Result<(), WorkspaceError> {
    for path in [Some(root.join(BESIDE_RUNS)), in_git_dir(root)]
        .into_iter()
        .flatten()
    {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(WorkspaceError::io("remove", path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn in_git_dir(root: &Path) -> Option<PathBuf> {
    Some(discover(root).ok()?.common_dir.join(IN_GIT_DIR))
}

fn write(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    write_whole(path, text).map_err(|source| WorkspaceError::io("write", path, source))
}

fn read(path: &Path) -> Option<Marker> {
    // a pipe in its place would keep every command waiting
    let text = read_text_file(path, BYTES_MAX).ok()?;
    Marker::parse(&text)
}
