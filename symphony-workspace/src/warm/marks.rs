//! What a folder looks like: a digest that changes with any write to anything in it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// The most entries of a generation: twenty times the build output of a large workspace.
const ENTRIES_MAX: usize = 2_000_000;

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

impl Marks {
    /// Looks at everything below a folder, but for entries that `is_left_out`; it gets paths relative to the folder.
    ///
    /// Of folders only names and modes count: their times change with what is left out.
    ///
    /// # Errors
    /// When something cannot be read, is neither a file, a link nor a folder, or there is too much.
    pub(super) fn of(root: &Path, is_left_out: impl Fn(&Path) -> bool) -> io::Result<Self> {
        let mut marks = Self {
            digest: String::new(),
            newest_ms: i64::MIN,
            entries: 0,
        };
        let mut digest = Sha256::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let mut names = fs::read_dir(root.join(&folder))?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<io::Result<Vec<_>>>()?;
            names.sort();
            for name in names {
                let path = folder.join(name);
                if is_left_out(&path) {
                    continue;
                }
                let meta = fs::symlink_metadata(root.join(&path))?;
                marks.entries += 1;
                if marks.entries > ENTRIES_MAX {
                    return Err(io::Error::other(format!(
                        "it has more than {ENTRIES_MAX} entries"
                    )));
                }
                add(&mut digest, &path, &meta)?;
                let written = meta.mtime() * 1_000 + meta.mtime_nsec() / 1_000_000;
                marks.newest_ms = marks.newest_ms.max(written);
                if meta.is_dir() {
                    open.push(path);
                }
            }
        }
        marks.digest = hex(&digest.finalize());
        Ok(marks)
    }
}

fn add(digest: &mut Sha256, path: &Path, meta: &Metadata) -> io::Result<()> {
    let bytes = path.as_os_str().as_bytes();
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
    digest.update(meta.mode().to_le_bytes());
    let kind = meta.file_type();
    if kind.is_dir() {
        return Ok(());
    }
    if !kind.is_file() && !kind.is_symlink() {
        return Err(io::Error::other(format!(
            "{} is neither a file, a link nor a folder",
            path.display()
        )));
    }
    for value in [
        meta.ino(),
        meta.size(),
        meta.mtime().cast_unsigned(),
        meta.mtime_nsec().cast_unsigned(),
        // No program can set it back: it shows a write whose traces were removed.
        meta.ctime().cast_unsigned(),
        meta.ctime_nsec().cast_unsigned(),
    ] {
        digest.update(value.to_le_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
