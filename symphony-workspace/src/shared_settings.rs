//! The git configuration that all checkouts of a repository share: recorded at dispatch, compared at exit.
//!
//! It is a person's file, and a person may edit it while an agent works: so what changed is told, and nothing is undone.

use serde::{Deserialize, Serialize};
use symphony_core::left_behind::is_kept_by_git;

use crate::error::WorkspaceError;
use crate::repository::Repository;
use crate::setting_digests::{Digests, changed_names, setting_digests};

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
    /// Reads the settings of the repository's own configuration file; what it includes belongs to somebody else. None when git
    /// cannot read it: whoever uses git there hears of that.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn shared_settings(&self) -> Result<Option<SharedSettings>, WorkspaceError> {
        let answer = self
            .git
            .command("config")
            .args(["--no-includes", "--list", "-z", "--file"])
            .arg(self.git.place().common_dir.join("config"))
            .answer(&[0, 1, 3, 128])?;
        if answer.code != 0 {
            return Ok(None);
        }
        let digests = setting_digests(&answer.stdout, |name| {
            (!is_kept_by_git(name)).then(|| name.to_owned())
        });
        Ok(Some(SharedSettings(digests)))
    }
}
