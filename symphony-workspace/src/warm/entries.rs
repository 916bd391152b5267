//! Folders of a generation, opened and listed without following a link on the way.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Statx, StatxFlags, statx};
use rustix::io::retry_on_intr;

use crate::linux::Folder;

/// The most entries of a generation: twenty times the build output of a large workspace.
const ENTRIES_MAX: usize = 2_000_000;

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: CString,
    /// What the list says that it is. Some file systems do not say.
    pub(super) kind: FileType,
}

impl Entry {
    /// Returns its path, if it is in this folder.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(std::ffi::OsStr::from_bytes(self.name.as_bytes()))
    }
}

/// A tree whose folders are listed.
pub(super) struct Tree {
    root: Folder,
    entries: AtomicUsize,
}

impl Tree {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self {
            root: Folder::open(root)?,
            entries: AtomicUsize::new(0),
        })
    }

    /// Opens a folder of it.
    pub(super) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        self.root.readable(path)
    }

    /// Lists an open folder of it.
    ///
    /// # Errors
    /// When it cannot be read, or the tree has too many entries.
    pub(super) fn list(&self, folder: &OwnedFd) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in retry_on_intr(|| Dir::read_from(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            if !matches!(name.to_bytes(), b"." | b"..") {
                entries.push(Entry {
                    name: name.to_owned(),
                    kind: entry.file_type(),
                });
            }
        }
        let before = self.entries.fetch_add(entries.len(), Ordering::Relaxed);
        if before + entries.len() > ENTRIES_MAX {
            return Err(io::Error::other(format!(
                "it has more than {ENTRIES_MAX} entries"
            )));
        }
        Ok(entries)
    }
}

/// Looks at an entry of an open folder, and follows no link.
pub(super) fn look_in(folder: impl AsFd, entry: &Entry) -> io::Result<Statx> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    Ok(statx(folder, &entry.name, flags, StatxFlags::BASIC_STATS)?)
}

/// Looks at an open file or folder.
pub(super) fn look_at(open: impl AsFd) -> io::Result<Statx> {
    Ok(statx(
        open,
        c"",
        AtFlags::EMPTY_PATH,
        StatxFlags::BASIC_STATS,
    )?)
}

/// Returns what kind of entry this is.
pub(super) fn kind_of(found: &Statx) -> FileType {
    FileType::from_raw_mode(u32::from(found.stx_mode))
}

/// The error about an entry that no generation has.
pub(super) fn odd(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is neither a file, a link nor a folder",
        path.display()
    ))
}
