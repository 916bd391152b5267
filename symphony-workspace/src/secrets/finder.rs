//! Looking for secret values in whatever is shown: texts of the database, logs, prompts.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use super::scan::Needles;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// A value of a copied file, by its name; the value itself is not shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretName {
    /// The copied file, relative to the project.
    pub file: PathBuf,
    /// The value's name in that file: its key, or its line.
    pub name: String,
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {}", self.name, self.file.display())
    }
}

/// Finds the secret values of a project.
pub struct SecretFinder {
    needles: Needles,
    /// Values that occur in the base's own files are not secret.
    acquitted: BTreeSet<usize>,
}

impl fmt::Debug for SecretFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // the values stay out of every message
        write!(f, "SecretFinder({} values)", self.needles.secrets.len())
    }
}

impl SecretFinder {
    /// Returns the names of the values in `contents`, plain or encoded.
    pub fn find(&self, contents: &[u8]) -> Vec<SecretName> {
        let found = self.needles.found_in(contents);
        let mut names: Vec<SecretName> = found
            .difference(&self.acquitted)
            .filter_map(|number| self.needles.secrets.get(*number))
            .map(|(file, secret)| SecretName {
                file: file.clone(),
                name: secret.name.clone(),
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Repository {
    /// Creates a finder of the values of the project's copied configuration files that occur nowhere in `base`; `None`
    /// if there is no such file or value.
    ///
    /// # Errors
    /// When git fails, or an object is too large to be searched.
    pub fn secret_finder(&self, base: &CommitId) -> Result<Option<SecretFinder>, WorkspaceError> {
        let Some(needles) = Needles::of(self.secrets(None)?)? else {
            return Ok(None);
        };
        let acquitted = needles.occurring_in(&self.git, base)?;
        Ok(Some(SecretFinder { needles, acquitted }))
    }
}
