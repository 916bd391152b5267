//! What a folder looks like: a digest that changes with any write to anything in it.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Statx};
use sha2::{Digest as _, Sha256};

use super::entries::{Tree, kind_of, look_in, odd};
use crate::hex::hex;
use crate::threads::{Step, thread_count, work_through};

/// What a folder looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marks {
    /// The digest of names, kinds, modes, inodes, sizes and times.
    pub(super) digest: String,
    /// The newest time of the last write, in milliseconds.
    pub(super) newest_ms: i64,
    /// How many entries there are.
    pub(super) entries: usize,
}

/// What an entry looks like.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    name: CString,
    mode: u32,
    inode: u64,
    size: u64,
    written: (i64, u32),
    /// No program can set it back: it shows a write whose traces were removed.
    changed: (i64, u32),
}

impl Mark {
    /// Takes what was found at a name.
    pub(super) fn of(name: CString, found: &Statx) -> Self {
        Self {
            name,
            mode: u32::from(found.stx_mode),
            inode: found.stx_ino,
            size: found.stx_size,
            written: (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
            changed: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        }
    }

    fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
    }

    fn written_ms(&self) -> i64 {
        self.written.0 * 1_000 + i64::from(self.written.1) / 1_000_000
    }

    fn add(&self, digest: &mut Sha256, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
        digest.update(self.mode.to_le_bytes());
        if self.is_folder() {
            return;
        }
        for value in [
            self.inode,
            self.size,
            self.written.0.cast_unsigned(),
            u64::from(self.written.1),
            self.changed.0.cast_unsigned(),
            u64::from(self.changed.1),
        ] {
            digest.update(value.to_le_bytes());
        }
    }
}

/// Entries of a folder, with its path relative to the root. A folder may come in several parts.
pub(super) type Part = (PathBuf, Vec<Mark>);

impl Marks {
    /// Looks at everything below a folder, but for entries that `is_left_out`; it gets paths relative to the folder.
    ///
    /// Of folders only names and modes count: their times change with what is left out.
    ///
    /// # Errors
    /// When something cannot be read, is neither a file, a link nor a folder, or there is too much.
    pub(super) fn of(root: &Path, is_left_out: impl Fn(&Path) -> bool + Sync) -> io::Result<Self> {
        let tree = Tree::open(root)?;
        let parts = work_through(thread_count(), vec![PathBuf::new()], |folder| {
            let (done, later) = look_through(&tree, folder, &is_left_out)?;
            let first = Vec::new();
            Ok::<_, io::Error>(Step { done, first, later })
        })?;
        Ok(Self::from_parts(parts))
    }

    /// Puts together what was seen in each folder. The order of the parts makes no difference.
    pub(super) fn from_parts(parts: Vec<Part>) -> Self {
        let mut folders: BTreeMap<PathBuf, Vec<Mark>> = BTreeMap::new();
        for (folder, seen) in parts {
            folders.entry(folder).or_default().extend(seen);
        }
        let mut marks = Self {
            digest: String::new(),
            newest_ms: i64::MIN,
            entries: 0,
        };
        let mut digest = Sha256::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let mut seen = folders.remove(&folder).unwrap_or_default();
            seen.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            for mark in seen {
                let path = folder.join(OsStr::from_bytes(mark.name.as_bytes()));
                marks.entries += 1;
                mark.add(&mut digest, &path);
                marks.newest_ms = marks.newest_ms.max(mark.written_ms());
                if mark.is_folder() {
                    open.push(path);
                }
            }
        }
        marks.digest = hex(&digest.finalize());
        marks
    }
}

/// Looks at the entries of a folder, and returns the folders among them, too.
pub(super) fn look_through(
    tree: &Tree,
    folder: PathBuf,
    is_left_out: impl Fn(&Path) -> bool,
) -> io::Result<(Part, Vec<PathBuf>)> {
    let fd = tree.folder(&folder)?;
    let (mut seen, mut inner) = (Vec::new(), Vec::new());
    for entry in tree.list(&fd)? {
        let path = entry.path(&folder);
        if is_left_out(&path) {
            continue;
        }
        let found = look_in(&fd, &entry)?;
        match kind_of(&found) {
            FileType::RegularFile | FileType::Symlink => {}
            FileType::Directory => inner.push(path),
            _ => return Err(odd(&path)),
        }
        seen.push(Mark::of(entry.name, &found));
    }
    Ok(((folder, seen), inner))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn digest(root: &Path) -> String {
        Marks::of(root, |path| path.starts_with("skip"))
            .unwrap()
            .digest
    }

    #[test]
    fn any_write_shows_even_when_its_traces_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a")).unwrap();
        fs::create_dir_all(root.join("skip")).unwrap();
        fs::write(root.join("a/file"), "one").unwrap();
        let before = digest(root);
        assert_eq!(digest(root), before);
        fs::write(root.join("skip/new"), "x").unwrap();
        assert_eq!(digest(root), before, "left out");

        let file = root.join("a/file");
        let meta = fs::metadata(&file).unwrap();
        let time = filetime::FileTime::from_last_modification_time(&meta);
        // the clock of file times moves in steps
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "two").unwrap();
        filetime::set_file_mtime(&file, time).unwrap();
        let written = digest(root);
        assert_ne!(written, before);
        fs::hard_link(&file, folder.path().join("skip/link")).unwrap();
        assert_ne!(digest(root), written, "a hard link");
        let linked = digest(root);
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
        assert_ne!(digest(root), linked, "a mode");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        assert!(Marks::of(folder.path(), |_| false).is_err());
    }
}
