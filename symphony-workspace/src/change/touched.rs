//! What differs between two commits, path by path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::status::repo_path_text;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};

/// The blob of a path before and after a change; `None` if the path does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    /// The path as git has it, which need not be UTF-8.
    pub(crate) path: PathBuf,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

/// Returns the paths that differ between two commits.
pub(crate) fn touched(
    git: &Git,
    from: &CommitId,
    to: &CommitId,
) -> Result<BTreeMap<String, Touched>, WorkspaceError> {
    let list = git
        .command("diff-tree")
        .args(["-r", "-z", "--raw", "--no-abbrev", "--no-renames"])
        .arg("--ignore-submodules=none")
        .args([from.as_str(), to.as_str()])
        .slow()
        .run()?;
    let mut fields = fields(&list);
    let mut touched = BTreeMap::new();
    while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
        let path = Path::new(OsStr::from_bytes(path));
        let blobs = parse(meta, path).ok_or_else(|| WorkspaceError::GitAnswer {
            command: "diff-tree".to_owned(),
            expected: "`:MODE MODE BLOB BLOB STATUS`",
            found: String::from_utf8_lossy(meta).into_owned(),
        })?;
        touched.insert(repo_path_text(path), blobs);
    }
    Ok(touched)
}

fn parse(meta: &[u8], path: &Path) -> Option<Touched> {
    let mut words = str::from_utf8(meta).ok()?.split(' ').skip(2);
    let (old, new) = (words.next()?, words.next()?);
    let blob = |name: &str| {
        let is_there = name.bytes().any(|digit| digit != b'0');
        is_there.then(|| name.to_owned())
    };
    Some(Touched {
        path: path.to_owned(),
        old: blob(old),
        new: blob(new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_has_no_blob() {
        let line = b":000000 100644 0000000 8ab686e A";
        let path = Path::new("a");
        let added = Touched {
            path: path.to_owned(),
            old: None,
            new: Some("8ab686e".to_owned()),
        };
        assert_eq!(parse(line, path), Some(added));
        assert_eq!(parse(b":100644 100644 8ab686e", path), None);
    }
}
