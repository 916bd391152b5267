//! Which files git does not show.

use symphony_core::config::FileReaders;
use symphony_workspace::config_file::CONFIG_FILE_NAME;
use symphony_workspace::{Repository, WorkspaceError};

/// Keeps Symphony's own files, and folders that the set-up fills, out of `git status` and of agents' commits; says whether
/// anything was added. A configuration file that is to be committed is shown.
pub(super) fn ignore_own_files(
    repository: &Repository,
    readers: FileReaders,
    fills: &[String],
) -> Result<bool, WorkspaceError> {
    let config = format!("/{CONFIG_FILE_NAME}");
    let mut entries = repository.own_excludes();
    if readers == FileReaders::Team {
        entries.retain(|entry| *entry != config);
        repository.stop_excluding(&[config])?;
    }
    for folder in fills {
        // most projects ignore theirs themselves
        if !repository.ignores(folder) {
            entries.push(format!("/{folder}"));
        }
    }
    repository.exclude(&entries)
}
