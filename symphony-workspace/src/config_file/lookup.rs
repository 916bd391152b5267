//! Finds configuration files.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::ConfigFileError;

pub use symphony_core::config_change::CONFIG_FILE_NAME;

/// Where configuration is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigPaths {
    /// The file that `--config`, or else `SYMPHONY_CONFIG`, names.
    pub explicit: Option<PathBuf>,
    /// The global file; it need not exist.
    pub global: Option<PathBuf>,
    /// The user's home folder, for `~/` in values.
    pub home: Option<PathBuf>,
}

impl ConfigPaths {
    /// Builds them from the flag `--config`, the variable `SYMPHONY_CONFIG` (empty is as unset), the
    /// home folder, and the folder that relative paths start from.
    pub fn new(
        flag: Option<&Path>,
        variable: Option<&OsStr>,
        home: Option<&Path>,
        current: &Path,
    ) -> Self {
        let variable = variable.filter(|value| !value.is_empty()).map(Path::new);
        Self {
            explicit: flag.or(variable).map(|path| current.join(path)),
            global: home.map(global_path),
            home: home.map(Path::to_path_buf),
        }
    }
}

/// Returns the place of the global file below a home folder.
pub fn global_path(home: &Path) -> PathBuf {
    home.join(".config").join("symphony").join("config.json")
}

/// What an upward search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigSearch {
    /// The nearest file.
    pub file: Option<PathBuf>,
    /// Files above the start that were skipped because another user owns them.
    pub skipped: Vec<PathBuf>,
}

/// Finds the nearest `symphony.config.json` in a folder or above it.
///
/// Above the folder, a file of another user (except root) is skipped: in a shared folder such as `/tmp` anyone could
/// leave one, and its commands would run.
///
/// # Errors
/// When a file exists but cannot be accessed.
pub fn find_upward(start: &Path) -> Result<ConfigSearch, ConfigFileError> {
    let mut found = ConfigSearch::default();
    let user = rustix::process::geteuid().as_raw();
    for folder in start.ancestors() {
        let file = folder.join(CONFIG_FILE_NAME);
        let metadata = match std::fs::metadata(&file) {
            Ok(metadata) => metadata,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                continue;
            }
            // Folders above may be closed to us; the user cannot fix that.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && folder != start => {
                continue;
            }
            Err(source) => return Err(ConfigFileError::Read { path: file, source }),
        };
        if folder == start || may_trust(metadata.uid(), user) {
            found.file = Some(file);
            break;
        }
        found.skipped.push(file);
    }
    Ok(found)
}

/// Returns whether a file found above a project may be used: the user's own, or root's.
const fn may_trust(owner: u32, user: u32) -> bool {
    owner == user || owner == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_users_are_not_trusted() {
        for (owner, user, trusted) in [
            (1000, 1000, true),
            (0, 1000, true),
            (1001, 1000, false),
            (1000, 0, false),
        ] {
            assert_eq!(may_trust(owner, user), trusted, "{owner} {user}");
        }
    }
}
