//! One commit of a branch: by the beginning of its name, and what it changes.

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// Fewest digits by which a commit is known: git abbreviates to no fewer.
const DIGITS_MIN: usize = 4;
/// Commits of a branch that are looked through, newest first: a branch of an issue has tens.
const COMMITS_MAX: usize = 10_000;

impl Repository {
    /// Returns the one commit of `head` that `base` does not have and whose name begins with these digits; none when there is none, or
    /// more than one.
    ///
    /// # Errors
    /// When git fails, or one of the two commits is not here.
    pub fn commit_ahead(
        &self,
        (base, head): (&CommitId, &CommitId),
        digits: &str,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        if digits.len() < DIGITS_MIN {
            return Ok(None);
        }
        let list = self
            .git
            .command("rev-list")
            .args([&format!("--max-count={COMMITS_MAX}"), head.as_str()])
            .arg(format!("^{base}"))
            .run()?;
        let list = String::from_utf8_lossy(&list);
        let mut found = list.lines().filter(|name| name.starts_with(digits));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(CommitId::parse(one).ok()),
            _ => Ok(None),
        }
    }

    /// Returns what a commit changes against its first parent; none when it has none, or the patch is longer than `patch_bytes_max`.
    ///
    /// # Errors
    /// When git fails, or the commit is not here.
    pub fn commit_patch(
        &self,
        commit: &CommitId,
        patch_bytes_max: usize,
    ) -> Result<Option<String>, WorkspaceError> {
        let Some(parent) = self.reader().first_parent(commit)? else {
            return Ok(None);
        };
        let diff = self.diff(&parent, commit, patch_bytes_max)?;
        Ok((!diff.patch_cut).then_some(diff.patch))
    }
}
