//! The git configuration that all checkouts of a repository share, with the attributes and hooks beside it: recorded at
//! dispatch, compared at exit. Symphony's own git runs no hook and reads no such attributes; a person's git does.
//!
//! It is a person's file, and a person may edit it while an agent works: so changes are reported, and nothing is
//! undone.

use std::fs;
use std::io::ErrorKind;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use symphony_core::left_behind::is_kept_by_git;

use crate::artifact::read_beneath;
use crate::error::WorkspaceError;
use crate::hex::hex;
use crate::repository::Repository;
use crate::setting_digests::{Digests, changed_names, setting_digests};

/// Files that change which history git shows: a person's git believes them, Symphony's reads the commits themselves.
const HISTORY_FILES: &[&str] = &["info/grafts", "shallow"];

/// Largest hook whose contents are compared.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Name and hashed values of each setting. Values are hashed, since they may contain credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SharedSettings(Digests);

impl SharedSettings {
    /// Names the settings that differ from earlier ones, sorted.
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        changed_names(&self.0, &earlier.0)
    }
}

impl Repository {
    /// Reads the settings of the repository's own configuration file; included files belong to someone else. `None` if
    /// git cannot read it: whoever uses git there gets that error.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn shared_settings(&self) -> Result<Option<SharedSettings>, WorkspaceError> {
        let file = self.git.place().common_dir.join("config");
        let Some(list) = self.git.settings_in(&file)? else {
            return Ok(None);
        };
        let mut digests = setting_digests(&list, |name| {
            (!is_kept_by_git(name)).then(|| name.to_owned())
        });
        digests.extend(self.files_beside()?);
        Ok(Some(SharedSettings(digests)))
    }

    /// Reads the attributes, grafts and hooks that every checkout of the repository has. Samples, which git never runs,
    /// do not count.
    fn files_beside(&self) -> Result<Digests, WorkspaceError> {
        let common_dir = &self.git.place().common_dir;
        let hooks = common_dir.join("hooks");
        let mut names: Vec<String> = HISTORY_FILES
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        names.push("info/attributes".to_owned());
        match fs::read_dir(&hooks) {
            Ok(entries) => {
                let hooks = entries
                    .filter_map(Result::ok)
                    .map(|entry| entry.file_name());
                let hooks = hooks.map(|name| name.to_string_lossy().into_owned());
                names.extend(
                    hooks
                        .filter(|name| !name.ends_with(".sample"))
                        .map(|name| format!("hooks/{name}")),
                );
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(source) => return Err(WorkspaceError::io("read the folder", hooks, source)),
        }
        let mut digests = Digests::new();
        for name in names {
            // What cannot be read as a file exists nevertheless.
            let contents = match read_beneath(common_dir, &name, FILE_BYTES_MAX) {
                Ok(None) => continue,
                Ok(Some(bytes)) => bytes,
                Err(_) => Vec::new(),
            };
            digests.insert(name, hex(&Sha256::digest(&contents)));
        }
        Ok(digests)
    }
}
