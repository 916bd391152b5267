//! Whether a pristine checkout is still the one that was made.
//!
//! It is a folder like any other: `rm -rf`, `git clean -ffdx` or a parallel clean-up may remove it while commands run
//! in it. A command whose folder is gone finds nothing, and "nothing is wrong" is green.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder that is held open. Meanwhile the kernel gives its inode to no other folder, so a folder that replaces it is
/// noticed.
#[derive(Debug)]
pub(super) struct Anchor {
    pub(super) path: PathBuf,
    held: File,
}

impl Anchor {
    /// Opens the folder at a path.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            held: File::open(path)?,
        })
    }

    /// Returns whether the path still leads to that folder. A link in its place does not.
    pub(super) fn holds(&self) -> io::Result<bool> {
        let number = |meta: &Metadata| (meta.dev(), meta.ino());
        let held = number(&self.held.metadata()?);
        match self.path.symlink_metadata() {
            Ok(found) => Ok(number(&found) == held),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
