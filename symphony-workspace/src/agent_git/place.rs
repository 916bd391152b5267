//! The `.git` of a checkout whose agent may be alive: it can put a link in any place of the checkout at any time.
//!
//! So nothing is written or removed there by a path. What is put there is made beside the checkouts, where an agent in a sandbox sees
//! nothing, and moved in as a whole; what is removed is moved out first. A move follows no link.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::linux::Folder;
use crate::worktree::{Worktree, refuse_link};

/// How often a move is tried: an agent may make something new in the place.
const TRIES_MAX: usize = 100;

/// Where something is made before it is moved into a checkout, or moved to before it is removed.
pub(super) struct Workbench {
    folder: PathBuf,
    checkout: Folder,
    path: PathBuf,
}

impl Workbench {
    /// Makes an empty one beside a checkout. What a dead process left there is removed.
    pub(super) fn make(worktree: &Worktree) -> Result<Self, WorkspaceError> {
        let path = worktree.path().to_owned();
        refuse_link(&path)?;
        let name = format!(".git-of-{}", worktree.key());
        let folder = path.with_file_name(name);
        let checkout = Folder::open(&path)
            .map_err(|source| WorkspaceError::io("open the folder", &path, source))?;
        remove(&folder)
            .and_then(|()| fs::create_dir(&folder))
            .map_err(|source| WorkspaceError::io("make the folder", &folder, source))?;
        Ok(Self {
            folder,
            checkout,
            path,
        })
    }

    /// Returns where what is to be the checkout's `.git` is made.
    pub(super) fn new_git(&self) -> PathBuf {
        self.folder.join("git")
    }

    /// Makes what stands at [`Workbench::new_git`] the checkout's `.git`.
    pub(super) fn put(&self) -> Result<(), WorkspaceError> {
        for _ in 0..TRIES_MAX {
            self.take_out()?;
            match self.checkout.move_in(&self.new_git(), Path::new(".git")) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(source) => return Err(self.failed("put the git folder into", source)),
            }
        }
        Err(WorkspaceError::Tampered {
            path: self.path.clone(),
            what: "something puts a `.git` into it again and again".to_owned(),
        })
    }

    /// Moves the checkout's `.git` out, whatever it is, and removes it.
    pub(super) fn take_out(&self) -> Result<(), WorkspaceError> {
        let old = self.folder.join("old");
        match self.checkout.move_out(Path::new(".git"), &old) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            moved => moved.map_err(|source| self.failed("take the git folder out of", source))?,
        }
        remove(&old).map_err(|source| WorkspaceError::io("remove", old, source))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> WorkspaceError {
        WorkspaceError::io(action, &self.path, source)
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder) {
            tracing::warn!(path = %self.folder.display(), %error, "a folder of a git folder stays");
        }
    }
}

/// Removes whatever is at a path.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove_deep(path).map(drop),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
