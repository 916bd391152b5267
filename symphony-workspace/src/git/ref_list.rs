//! Listing refs: without a process where their files are plain (`ref_files`), otherwise by the program.
//!
//! Not by libgit2: its list ends without an error where it meets a link that leads nowhere or too many folders, and lacks refs
//! that `git pack-refs` packs meanwhile.

use std::collections::BTreeMap;

use super::reader::CommonReader;
use super::ref_files::{Refs, plain_refs};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

impl CommonReader<'_> {
    /// Returns the object of each ref that is named, or is below a folder that is named, by its full name, which need
    /// not be UTF-8. A symbolic ref has the object of the one it leads to.
    pub(crate) fn refs(self, named: &[&str]) -> Result<Refs, WorkspaceError> {
        // Git would list all of them.
        if named.is_empty() {
            return Ok(Refs::new());
        }
        let place = self.git().place();
        place.refuse_redirected()?;
        if let Some(refs) = plain_refs(&place.common_dir, named) {
            return Ok(refs);
        }
        let list = self
            .git()
            .command("for-each-ref")
            .arg("--format=%(objectname) %(refname)")
            .args(named)
            .run()?;
        let lines = list.split(|byte| *byte == b'\n');
        let refs = lines.filter_map(|line| {
            let space = line.iter().position(|byte| *byte == b' ')?;
            let (object, name) = (line.get(..space)?, line.get(space + 1..)?);
            Some((name.to_vec(), String::from_utf8_lossy(object).into_owned()))
        });
        Ok(refs.collect())
    }

    /// Returns whether there is a ref with this full name. `git rev-parse` would find other ones where it is missing.
    pub(super) fn lists(self, name: &str) -> Result<bool, WorkspaceError> {
        Ok(self.refs(&[name])?.contains_key(name.as_bytes()))
    }

    /// Returns the full names of the refs below a folder of refs, which ends with a slash, sorted.
    pub(crate) fn names_below(self, folder: &str) -> Result<Vec<String>, WorkspaceError> {
        let names = self.refs(&[folder])?.into_keys();
        Ok(names
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect())
    }

    /// Returns the objects of the refs below a folder of refs, which ends with a slash, by the rest of their names. Those
    /// whose names are not UTF-8 are left out.
    pub(crate) fn commits_below(
        self,
        folder: &str,
    ) -> Result<BTreeMap<String, CommitId>, WorkspaceError> {
        let refs = self.refs(&[folder])?.into_iter();
        let refs = refs.filter_map(|(name, object)| {
            let rest = str::from_utf8(&name).ok()?.strip_prefix(folder)?;
            Some((rest.to_owned(), CommitId::parse(&object).ok()?))
        });
        Ok(refs.collect())
    }
}
