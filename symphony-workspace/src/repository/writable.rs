//! Whether git can write everywhere it needs to: after a `sudo git …`, another user's folders may be in its git folder,
//! and an agent's work could not be committed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::open::Repository;
use super::own_branches::OWN_BRANCHES;
use super::unwritable::Unwritable;
use crate::error::WorkspaceError;

impl Repository {
    /// Checks that a commit, a branch and a worktree can be written. It asks the kernel about each folder that they
    /// need, and writes nothing.
    ///
    /// # Errors
    /// [`WorkspaceError::NotWritable`] with the first folder that is not writable.
    pub fn require_writable(&self) -> Result<(), WorkspaceError> {
        for place in places(self.common_dir()) {
            if let Some(why) = unwritable(&place) {
                return Err(WorkspaceError::NotWritable {
                    git_dir: self.common_dir().to_owned(),
                    path: place,
                    why,
                });
            }
        }
        Ok(())
    }
}

/// Returns the folders of a git folder in which work creates files. Missing ones are created below others of them.
fn places(common_dir: &Path) -> Vec<PathBuf> {
    let own = format!("refs/heads/{OWN_BRANCHES}");
    let own_log = format!("logs/{own}");
    let named = [
        "",
        "objects",
        "refs",
        "refs/heads",
        &own,
        "logs",
        "logs/refs",
        "logs/refs/heads",
        &own_log,
        "worktrees",
    ];
    let named = named.into_iter().map(|name| common_dir.join(name));
    // An object goes into the folder named by its first byte.
    let fan_out = (0..=u8::MAX).map(|byte| common_dir.join(format!("objects/{byte:02x}")));
    named.chain(fan_out).collect()
}

/// Returns why no file can be created in a folder; `None` if one can, or if the folder does not exist.
fn unwritable(folder: &Path) -> Option<Unwritable> {
    match access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        Err(Errno::ROFS) => Some(Unwritable::ReadOnly),
        Err(Errno::ACCESS | Errno::PERM) => {
            let uid = fs::metadata(folder).ok()?.uid();
            let own = rustix::process::geteuid().as_raw();
            Some(if uid == own {
                Unwritable::Mode
            } else {
                Unwritable::Owner { uid }
            })
        }
        // Any other problem shows when git runs.
        _ => None,
    }
}
