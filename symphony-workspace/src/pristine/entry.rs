//! An entry of a checkout, kept in memory so that it can be restored.

use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::deep::remove_deep;

/// What stood at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder,
    Link(PathBuf),
    File {
        mode: u32,
        bytes: Vec<u8>,
    },
    /// A file too large to be kept: device, inode, size, and the nanosecond of its last change.
    Marked([i128; 4]),
    /// A pipe, a socket, a device.
    Other,
}

impl Entry {
    /// Looks at what is at a path, and follows no link there; a file of more bytes than `bytes_max` is only marked.
    pub(super) fn look(at: &Path, bytes_max: u64) -> io::Result<Self> {
        let meta = fs::symlink_metadata(at)?;
        Ok(if meta.is_dir() {
            Self::Folder
        } else if meta.is_symlink() {
            Self::Link(fs::read_link(at)?)
        } else if !meta.is_file() {
            Self::Other
        } else if meta.len() > bytes_max {
            let changed = i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
            let [device, inode, size] = [meta.dev(), meta.ino(), meta.len()].map(i128::from);
            Self::Marked([device, inode, size, changed])
        } else {
            Self::File {
                mode: mode(&meta),
                bytes: fs::read(at)?,
            }
        })
    }

    /// Writes it to a free path. A large file of which only the mark is known is not written: its content was not kept.
    pub(super) fn write(&self, at: &Path) -> io::Result<()> {
        match self {
            Self::Folder => fs::create_dir(at),
            Self::Link(target) => symlink(target, at),
            Self::File { mode, bytes } => {
                // its owner's alone until it has its own mode: it may hold a secret
                let mut file = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(at)?;
                file.write_all(bytes)?;
                file.set_permissions(Permissions::from_mode(*mode))
            }
            Self::Marked(_) | Self::Other => Ok(()),
        }
    }

    /// Returns how many bytes it holds in memory.
    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => bytes.len() as u64,
            Self::Folder | Self::Link(_) | Self::Marked(_) | Self::Other => 0,
        }
    }
}

/// Removes whatever is at a path below a folder, and creates its parent folders: something else may be in their place,
/// or they may not be writable.
pub(super) fn clear_way(root: &Path, path: &Path) -> io::Result<()> {
    for folder in parents(root, path) {
        match look(&folder)? {
            Some(meta) if meta.is_dir() => {
                if mode(&meta) & 0o700 != 0o700 {
                    fs::set_permissions(&folder, Permissions::from_mode(mode(&meta) | 0o700))?;
                }
            }
            found => {
                if found.is_some() {
                    fs::remove_file(&folder)?;
                }
                fs::create_dir(&folder)?;
            }
        }
    }
    let at = root.join(path);
    match look(&at)? {
        Some(meta) if meta.is_dir() => remove_deep(&at).map(|_| ()),
        Some(_) => fs::remove_file(&at),
        None => Ok(()),
    }
}

/// Returns the folders above a path of a checkout, from the checkout itself down.
pub(super) fn parents(root: &Path, path: &Path) -> impl Iterator<Item = PathBuf> {
    let mut above: Vec<PathBuf> = path
        .ancestors()
        .skip(1)
        .map(|folder| root.join(folder))
        .collect();
    above.reverse();
    above.into_iter()
}

/// Returns the metadata of the path itself; `None` if nothing is there.
pub(super) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn mode(meta: &Metadata) -> u32 {
    meta.permissions().mode()
}
