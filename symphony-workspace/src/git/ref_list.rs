//! Listing refs.
//!
//! The program lists them, since libgit2's list ends without an error where it meets a link that leads nowhere or too many folders,
//! and lacks refs that `git pack-refs` packs meanwhile.

use std::collections::BTreeMap;

use super::reader::CommonReader;
use crate::error::WorkspaceError;

impl CommonReader<'_> {
    /// Returns the object of each ref that is named, or is below a folder that is named, by its full name, which need
    /// not be UTF-8. A symbolic ref has the object of the one it leads to.
    pub(crate) fn refs(self, named: &[&str]) -> Result<BTreeMap<Vec<u8>, String>, WorkspaceError> {
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
}
