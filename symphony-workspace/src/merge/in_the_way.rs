//! Files that a move of a checkout would overwrite. Git itself treats ignored files as expendable.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::change::{Touched, repo_path_text, touched, tracked_changes};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};

/// The checkout of a base, and the tracked files in it that have uncommitted changes.
#[derive(Debug)]
pub struct BaseCheckout {
    git: Git,
    changes: BTreeSet<String>,
}

impl BaseCheckout {
    pub(super) fn at(git: Git) -> Result<Self, WorkspaceError> {
        let changes = tracked_changes(&git)?.into_iter().collect();
        Ok(Self { git, changes })
    }

    pub(super) const fn git(&self) -> &Git {
        &self.git
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        self.git.work_tree()
    }

    /// Returns the changed or untracked paths, ignored or not, that a move of the checkout would overwrite: files with changes,
    /// files and folders in the place of a new file, files in the place of a new file's folder.
    ///
    /// # Errors
    /// When git fails.
    pub fn in_the_way(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<String>, WorkspaceError> {
        let touched = touched(&self.git, from, to)?;
        let mut found = BTreeSet::new();
        for (name, blobs) in &touched {
            if self.changes.contains(name) {
                found.insert(name.clone());
            } else if blobs.old.is_none() {
                found.extend(in_the_place_of(&self.git, blobs, &touched)?);
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// Returns what is in the place of a new file.
fn in_the_place_of(
    checkout: &Git,
    new: &Touched,
    touched: &BTreeMap<String, Touched>,
) -> Result<Option<String>, WorkspaceError> {
    let root = checkout.work_tree();
    let mut folders: Vec<&Path> = new.path.ancestors().skip(1).collect();
    folders.reverse();
    for folder in folders
        .into_iter()
        .filter(|folder| *folder != Path::new(""))
    {
        match fs::symlink_metadata(root.join(folder)) {
            Err(_) => return Ok(None),
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                let name = repo_path_text(folder);
                // A tracked file makes way.
                let goes = touched.get(&name).is_some_and(|blobs| blobs.old.is_some());
                return Ok((!goes).then_some(name));
            }
        }
    }
    let name = repo_path_text(&new.path);
    match fs::symlink_metadata(root.join(&new.path)) {
        Err(_) => Ok(None),
        Ok(meta) if meta.is_dir() => {
            let holds = holds_untracked(checkout, &new.path)?;
            Ok(holds.then(|| format!("{name}/")))
        }
        Ok(_) => Ok(Some(name)),
    }
}

/// Returns whether a folder has anything that git does not track.
fn holds_untracked(checkout: &Git, folder: &Path) -> Result<bool, WorkspaceError> {
    let list = checkout
        .command("ls-files")
        .arg("-z")
        .arg("--")
        .arg(folder)
        .slow()
        .run()?;
    let tracked: BTreeSet<&Path> = fields(&list)
        .map(|path| Path::new(OsStr::from_bytes(path)))
        .collect();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(checkout.work_tree().join(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // A folder that cannot be read is kept.
            Err(_) => return Ok(true),
        };
        for entry in entries {
            let read = |source| WorkspaceError::io("read the folder", folder.clone(), source);
            let entry = entry.map_err(read)?;
            let path: PathBuf = folder.join(entry.file_name());
            if entry.file_type().map_err(read)?.is_dir() {
                folders.push(path);
            } else if !tracked.contains(path.as_path()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
