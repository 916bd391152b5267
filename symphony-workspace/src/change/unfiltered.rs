//! Uncommitted files that need a filter that Symphony may not run: a commit would hold them as they are in the
//! worktree, in plain text if the filter encrypts them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::status::Status;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;
use crate::worktree::Worktree;

impl Repository {
    /// Returns the uncommitted files that only the user's or the agent's own git can commit correctly, each with its
    /// filter. The attributes are those of the worktree, where a change may have added some.
    ///
    /// # Errors
    /// When git fails.
    pub fn unfiltered(
        &self,
        worktree: &Worktree,
        status: &Status,
    ) -> Result<BTreeMap<PathBuf, String>, WorkspaceError> {
        let idle = self.idle_filters()?;
        let mut paths = Vec::new();
        for path in status.present() {
            paths.extend_from_slice(path.as_os_str().as_bytes());
            paths.push(0);
        }
        if idle.is_empty() || paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let idle: BTreeSet<&str> = idle.iter().map(|filter| filter.name.as_str()).collect();
        let list = worktree
            .git
            .command("check-attr")
            .args(["-z", "--stdin", "filter"])
            .stdin(paths)
            .slow()
            .run()?;
        let mut found = BTreeMap::new();
        let mut list = fields(&list);
        // Three fields for each path: the path, the attribute and its value.
        while let (Some(path), Some(_), Some(value)) = (list.next(), list.next(), list.next()) {
            let name = String::from_utf8_lossy(value).into_owned();
            if idle.contains(name.as_str()) {
                found.insert(PathBuf::from(OsStr::from_bytes(path)), name);
            }
        }
        Ok(found)
    }
}
