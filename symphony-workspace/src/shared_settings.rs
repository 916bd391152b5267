//! The git configuration that all checkouts of a repository share: recorded at dispatch, compared at exit.
//!
//! It is a person's file, and a person may edit it while an agent works: so what changed is told, and nothing is undone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use symphony_core::left_behind::is_kept_by_git;

use crate::error::WorkspaceError;
use crate::git::fields;
use crate::hex::hex;
use crate::repository::Repository;

/// Name and hashed values of each setting. Values are hashed, since they may contain credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SharedSettings(BTreeMap<String, String>);

impl SharedSettings {
    /// Names the settings that differ from earlier ones, sorted.
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<&String> =
            self.0.keys().chain(earlier.0.keys()).collect();
        names
            .into_iter()
            .filter(|name| self.0.get(*name) != earlier.0.get(*name))
            .cloned()
            .collect()
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
        let mut settings: BTreeMap<String, Sha256> = BTreeMap::new();
        for field in fields(&answer.stdout) {
            let text = String::from_utf8_lossy(field);
            let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
            if !is_kept_by_git(name) {
                let hash = settings.entry(name.to_owned()).or_default();
                hash.update(value.as_bytes());
                hash.update([0]);
            }
        }
        let digests = settings
            .into_iter()
            .map(|(name, hash)| (name, hex(&hash.finalize())))
            .collect();
        Ok(Some(SharedSettings(digests)))
    }
}
