//! Symphony's own folders in commits: if merged, they would replace the database, or other agents' worktrees.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;

/// Symphony's folder in a project.
const STATE: &str = ".symphony";
/// What a project may keep there under version control: its own prompts.
const PROMPTS: &str = ".symphony/prompts";

/// A path of a commit, and whether it is a folder.
type Entry = (PathBuf, bool);

impl Repository {
    /// Returns the paths of Symphony's own that `head` has and `base` has not, sorted. What the base tracks there is
    /// the project's.
    pub(super) fn reserved_in(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<PathBuf>, WorkspaceError> {
        let workspaces = self.workspaces_dir();
        let workspaces = workspaces
            .strip_prefix(self.root())
            .unwrap_or(Path::new(""));
        let workspaces = (!workspaces.as_os_str().is_empty()).then_some(workspaces);
        let found = self.own_entries(head, workspaces)?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.own_entries(base, workspaces)?;
        Ok(reserved(&found, &known))
    }

    /// Lists Symphony's folders in a commit, and what is directly in its state folder.
    fn own_entries(
        &self,
        commit: &CommitId,
        workspaces: Option<&Path>,
    ) -> Result<BTreeSet<Entry>, WorkspaceError> {
        let list = self
            .git
            .command("ls-tree")
            .args(["-z", "--full-tree", commit.as_str(), "--", STATE])
            .arg(format!("{STATE}/"))
            .args(workspaces)
            .run()?;
        let entry = |field: &[u8]| {
            let at = field.iter().position(|byte| *byte == b'\t')?;
            let (meta, path) = field.split_at_checked(at)?;
            let path = PathBuf::from(OsStr::from_bytes(path.get(1..)?));
            Some((path, meta.starts_with(b"040000")))
        };
        Ok(fields(&list).filter_map(entry).collect())
    }
}

/// Selects what a commit must not have. The state folder itself may be there, for the prompts in it.
fn reserved(found: &BTreeSet<Entry>, known: &BTreeSet<Entry>) -> Vec<PathBuf> {
    let is_allowed = |(path, is_folder): &&Entry| {
        *is_folder && [Path::new(STATE), Path::new(PROMPTS)].contains(&path.as_path())
    };
    found
        .difference(known)
        .filter(|entry| !is_allowed(entry))
        .map(|(path, _)| path.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prompts_may_lie_in_symphonys_folder() {
        let entries = |list: &[(&str, bool)]| -> BTreeSet<Entry> {
            list.iter()
                .map(|(path, is_folder)| (path.into(), *is_folder))
                .collect()
        };
        for (found, known, expected) in [
            (
                &[(".symphony", true), (".symphony/prompts", true)][..],
                &[][..],
                &[][..],
            ),
            (&[(".symphony", false)], &[], &[".symphony"]),
            (
                &[(".symphony", false)],
                &[(".symphony", true)],
                &[".symphony"],
            ),
            (
                &[(".symphony", true), (".symphony/prompts", false)],
                &[],
                &[".symphony/prompts"],
            ),
            (
                &[(".symphony", true), (".symphony/runs", true)],
                &[],
                &[".symphony/runs"],
            ),
            (
                &[(".symphony", true), (".symphony/x.db", false)],
                &[(".symphony/x.db", false)],
                &[],
            ),
            (&[(".work", true)], &[], &[".work"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(
                reserved(&entries(found), &entries(known)),
                expected,
                "{found:?}"
            );
        }
    }
}
