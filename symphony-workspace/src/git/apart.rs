//! A separate git folder for one call, which shares only the objects with the repository.
//!
//! Every agent can write the repository's `info/attributes`, its configuration and its grafts, and git has no switch
//! that turns the first of these off. What a judge reads, and how two commits merge, must not depend on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::place::Place;
use super::shallow::copy_shallow;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// The folder, which exists as long as the call.
#[derive(Debug)]
pub(super) struct Apart {
    folder: TempDir,
    objects: PathBuf,
    attributes: CommitId,
}

impl Apart {
    /// Creates the folder. `attributes` is the commit whose `.gitattributes` count, if git supports that (2.41).
    pub(super) fn make(place: &Place, attributes: &CommitId) -> Result<Self, WorkspaceError> {
        let folder = tempfile::Builder::new()
            .prefix("symphony-git-")
            .tempdir()
            .map_err(|source| {
                WorkspaceError::io("make a folder in", std::env::temp_dir(), source)
            })?;
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(|source| WorkspaceError::io("write", path, source))
        };
        let objects = place.common_dir.join("objects");
        let is_sha256 = attributes.is_sha256();
        write("HEAD", format!("{attributes}\n"))?;
        write("config", config_text(is_sha256, is_partial(&objects)))?;
        for name in ["objects", "refs"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).map_err(|source| WorkspaceError::io("make", path, source))?;
        }
        copy_shallow(&place.common_dir, folder.path())?;
        Ok(Self {
            objects,
            attributes: attributes.clone(),
            folder,
        })
    }

    /// Points a call to the folder.
    pub(super) fn point(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("GIT_DIR", self.folder.path())
            .env("GIT_OBJECT_DIRECTORY", &self.objects)
            .env("GIT_ATTR_SOURCE", self.attributes.as_str())
            .env_remove("GIT_COMMON_DIR")
            .env_remove("GIT_WORK_TREE");
    }
}

/// Returns whether objects are those of a partial clone: git marks the packs that it has fetched.
pub(crate) fn is_partial(objects: &Path) -> bool {
    let packs = fs::read_dir(objects.join("pack")).into_iter().flatten();
    let mut paths = packs.filter_map(Result::ok).map(|entry| entry.path());
    paths.any(|path| path.extension().is_some_and(|end| end == "promisor"))
}

/// Declares a partial clone: otherwise git would report objects that have not been fetched as damaged.
fn config_text(is_sha256: bool, is_partial: bool) -> String {
    let version = u8::from(is_sha256 || is_partial);
    let mut text = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = true\n");
    if is_sha256 || is_partial {
        text.push_str("[extensions]\n");
    }
    if is_sha256 {
        text.push_str("\tobjectformat = sha256\n");
    }
    if is_partial {
        text.push_str(
            "\tpartialclone = origin\n[remote \"origin\"]\n\tpromisor = true\n\turl = .\n",
        );
    }
    text
}
