//! Worktrees that an agent added inside its own: git no longer knows them when its folder is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::own_file::read_file;

/// Returns the folders above untracked files whose `.git` file leads into the git folder that the checkout's agent had.
pub(crate) fn added_worktrees(checkout: &Path, untracked: &[PathBuf]) -> BTreeSet<PathBuf> {
    let real = checkout.canonicalize();
    let real = real.unwrap_or_else(|_gone| checkout.to_owned());
    let own = real.join(".git/worktrees");
    let mut known: BTreeMap<&Path, bool> = BTreeMap::new();
    for path in untracked {
        for folder in path.ancestors().skip(1) {
            if folder.as_os_str().is_empty() || known.contains_key(folder) {
                break;
            }
            let leads = target(&real.join(folder)).is_some_and(|to| to.starts_with(&own));
            known.insert(folder, leads);
        }
    }
    let added = known.into_iter().filter(|(_, leads)| *leads);
    added.map(|(folder, _)| folder.to_owned()).collect()
}

/// Returns where the `.git` file of a folder leads.
fn target(folder: &Path) -> Option<PathBuf> {
    let bytes = read_file(&folder.join(".git")).ok()?;
    let to = bytes.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(folder.join(OsStr::from_bytes(to)))
}
