//! Which files git does not show.

use symphony_core::config::FileReaders;
use symphony_workspace::config_file::CONFIG_FILE_NAME;
use symphony_workspace::{Repository, WorkspaceError};

/// What was changed in `.git/info/exclude`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Excludes {
    /// Whether anything was added.
    pub(super) added: bool,
    /// Whether git shows the configuration file from now on.
    pub(super) config_shown: bool,
}

/// Keeps Symphony's own files, and folders that the set-up fills, out of `git status` and of agents' commits; returns
/// what was changed. A configuration file that is to be committed is shown.
pub(super) fn ignore_own_files(
    repository: &Repository,
    readers: FileReaders,
    fills: &[String],
) -> Result<Excludes, WorkspaceError> {
    let config = format!("/{CONFIG_FILE_NAME}");
    let mut entries = repository.own_excludes();
    let mut config_shown = false;
    if readers == FileReaders::Team {
        entries.retain(|entry| *entry != config);
        config_shown = repository.stop_excluding(&[config])?;
    }
    for folder in fills {
        // most projects ignore theirs themselves
        if !repository.ignores(folder) {
            entries.push(format!("/{folder}"));
        }
    }
    Ok(Excludes {
        added: repository.exclude(&entries)?,
        config_shown,
    })
}
