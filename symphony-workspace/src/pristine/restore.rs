//! Restoring the tracked files of a pristine checkout to their committed content.
//!
//! Nothing in the checkout can influence it: not its index, its configuration, nor attributes there. Files that may
//! have been touched are checked out again in a separate folder, compared, and replaced if they differ.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::clone::Pristine;
use super::entry::{clear_way, look, mode, parents};
use crate::change::repo_path_text;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::Place;
use crate::repository::Repository;
use crate::worktree::{WorktreeKey, refuse_link};

/// How many bytes are compared at once.
const COMPARED_BYTES: usize = 64 * 1024;

impl Repository {
    /// Restores the tracked files of a pristine checkout to their committed content. Returns those that commands had
    /// changed. Files that the commit does not have stay.
    ///
    /// The caller must have ended the processes of those commands.
    ///
    /// # Errors
    /// [`WorkspaceError::Link`] when a link is in the checkout's place; otherwise when git fails, or a file cannot be
    /// written.
    pub fn restore_tracked(&self, pristine: &Pristine) -> Result<Vec<String>, WorkspaceError> {
        let root = pristine.path();
        refuse_link(root)?;
        let mut tracked = pristine.tracked();
        let touched = tracked.touched(root);
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = self.scratch_path(pristine.key());
        let restored = self.restore_from(&scratch, pristine, &touched);
        // Removed even after a failure: the next restore uses the same folder.
        self.remove_scratch(pristine.key())?;
        let restored = restored?;
        // Restoring changed the files' marks: the next call would take them for touched again.
        tracked.look_again(root, touched);
        Ok(restored.iter().map(|path| repo_path_text(path)).collect())
    }

    pub(super) fn scratch_path(&self, key: &WorktreeKey) -> PathBuf {
        self.common_dir()
            .join("symphony/restore")
            .join(key.as_str())
    }

    pub(super) fn remove_scratch(&self, key: &WorktreeKey) -> Result<(), WorkspaceError> {
        let path = self.scratch_path(key);
        remove_deep(&path)
            .map(|_| ())
            .map_err(|source| WorkspaceError::io("remove", path, source))
    }

    /// Checks files out in a separate folder, and copies those that differ from there.
    fn restore_from(
        &self,
        scratch: &Path,
        pristine: &Pristine,
        touched: &[PathBuf],
    ) -> Result<Vec<PathBuf>, WorkspaceError> {
        self.remove_scratch(pristine.key())?;
        let git_dir = scratch.join(".git");
        self.lay_out(&git_dir, pristine.commit())?;
        let config = git_dir.join("config");
        fs::write(&config, pristine.settings())
            .map_err(|source| WorkspaceError::io("write", config, source))?;
        let git = self.git.at(Place {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree: scratch.to_owned(),
        });
        let commit = pristine.commit().as_str();
        git.command("read-tree").arg(commit).slow().run()?;
        let mut list = Vec::new();
        for path in touched {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        git.command("checkout-index")
            .args(["-q", "-z", "--stdin"])
            .stdin(list)
            .slow()
            .run()?;
        let mut restored = Vec::new();
        for path in touched {
            let from = scratch.join(path);
            let differs = differs(&from, pristine.path(), path)
                .and_then(|differs| {
                    if differs {
                        put_back(&from, pristine.path(), path)?;
                    }
                    Ok(differs)
                })
                .map_err(|source| {
                    WorkspaceError::io("restore", pristine.path().join(path), source)
                })?;
            if differs {
                restored.push(path.clone());
            }
        }
        Ok(restored)
    }
}

/// Returns whether a file of a checkout differs from `from`, or is behind a link.
fn differs(from: &Path, root: &Path, path: &Path) -> io::Result<bool> {
    let Some(wanted) = look(from)? else {
        // Git writes nothing for it, as before.
        return Ok(false);
    };
    if !parents(root, path).all(|folder| matches!(look(&folder), Ok(Some(meta)) if meta.is_dir())) {
        return Ok(true);
    }
    let at = root.join(path);
    let Ok(Some(found)) = look(&at) else {
        return Ok(true);
    };
    if wanted.is_symlink() && found.is_symlink() {
        return Ok(fs::read_link(from)? != fs::read_link(&at)?);
    }
    let is_same_kind = wanted.is_file() && found.is_file();
    if !is_same_kind || wanted.len() != found.len() || is_program(&wanted) != is_program(&found) {
        return Ok(true);
    }
    // A file that cannot be read is not the one that git wrote.
    Ok(!have_same_bytes(from, &at).unwrap_or(false))
}

/// Returns the only bit of a file's mode that git stores.
fn is_program(meta: &Metadata) -> bool {
    mode(meta) & 0o100 != 0
}

fn have_same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        let limit = COMPARED_BYTES as u64;
        a.by_ref().take(limit).read_to_end(&mut left)?;
        b.by_ref().take(limit).read_to_end(&mut right)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

/// Moves a file to its path, whatever is there or in place of a parent folder.
fn put_back(from: &Path, root: &Path, path: &Path) -> io::Result<()> {
    clear_way(root, path)?;
    let at = root.join(path);
    if look(from)?.is_some_and(|meta| meta.is_symlink()) {
        symlink(fs::read_link(from)?, &at)
    } else {
        fs::copy(from, &at).map(|_| ())
    }
}
