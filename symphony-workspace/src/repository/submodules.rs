//! The submodules that a commit declares.

use symphony_core::submodule::{Submodules, read_submodules, submodule_changes};

use super::open::Repository;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;

impl Repository {
    /// Describes what a change does to the submodules that `.gitmodules` declares. Nothing is fetched.
    ///
    /// # Errors
    /// When git fails.
    pub fn submodule_changes(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<String>, WorkspaceError> {
        let before = self.declared_at(base)?.unwrap_or_default();
        Ok(match self.declared_at(head)? {
            Some(after) => submodule_changes(&before, &after),
            None => vec!["git cannot read `.gitmodules`".to_owned()],
        })
    }

    /// Parses `.gitmodules` of a commit; `None` if it is no valid configuration.
    fn declared_at(&self, commit: &CommitId) -> Result<Option<Submodules>, WorkspaceError> {
        let blob = format!("{commit}:.gitmodules");
        let is_there = self
            .git
            .command("cat-file")
            .args(["-e", &blob])
            .answer(&[0, 1, 128])?;
        if is_there.code != 0 {
            return Ok(Some(Submodules::new()));
        }
        let list = self
            .git
            .command("config")
            .args(["--no-includes", "--blob", &blob, "-z", "--list"])
            .answer(&[0, 1, 3, 128])?;
        if list.code != 0 {
            return Ok(None);
        }
        let settings = fields(&list.stdout).filter_map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n')?;
            Some((key.to_owned(), value.to_owned()))
        });
        Ok(Some(read_submodules(settings)))
    }
}
