//! Copying a folder with all times, so that no tool takes the copy for newer or older than it is.
//!
//! Never by hard links: build tools write through them, and the original would change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use filetime::FileTime;

/// What a copy took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// How many files there are.
    pub(super) files: usize,
    /// Whether the file system shared the data of all of them.
    pub(super) by_reflink: bool,
}

/// Copies a folder to a path where nothing is yet, without the entries of its root that `is_left_out`.
///
/// Files that are one file under several names are one again in the copy.
///
/// # Errors
/// When something cannot be read or written, or is neither a file, a link nor a folder.
pub(super) fn copy_tree(
    from: &Path,
    to: &Path,
    is_left_out: impl Fn(&Path) -> bool,
) -> io::Result<Copied> {
    let mut copy = Copy {
        copied: Copied {
            files: 0,
            by_reflink: true,
        },
        names: BTreeMap::new(),
    };
    let mut folders = vec![PathBuf::new()];
    let mut open = vec![PathBuf::new()];
    fs::create_dir(to)?;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if folder.as_os_str().is_empty() && is_left_out(&path) {
                continue;
            }
            let (source, target) = (from.join(&path), to.join(&path));
            if entry.file_type()?.is_dir() {
                fs::create_dir(&target)?;
                open.push(path.clone());
                folders.push(path);
            } else {
                copy.entry(&source, &target)?;
            }
        }
    }
    // Those inside come first: a folder's time changes with its entries, and one that cannot be written takes none.
    for folder in folders.iter().rev() {
        let meta = fs::symlink_metadata(from.join(folder))?;
        let target = to.join(folder);
        fs::set_permissions(&target, fs::Permissions::from_mode(meta.mode() & 0o7777))?;
        filetime::set_file_times(&target, accessed(&meta), modified(&meta))?;
    }
    Ok(copy.copied)
}

/// A copy that is being made.
struct Copy {
    copied: Copied,
    /// The copies of files that have several names, by device and inode.
    names: BTreeMap<(u64, u64), PathBuf>,
}

impl Copy {
    fn entry(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        let meta = fs::symlink_metadata(source)?;
        if meta.is_symlink() {
            symlink(fs::read_link(source)?, target)?;
            return filetime::set_symlink_file_times(target, accessed(&meta), modified(&meta));
        }
        if !meta.is_file() {
            return Err(io::Error::other(format!(
                "{} is neither a file, a link nor a folder",
                source.display()
            )));
        }
        self.copied.files += 1;
        if meta.nlink() > 1 {
            let id = (meta.dev(), meta.ino());
            if let Some(first) = self.names.get(&id) {
                return fs::hard_link(first, target);
            }
            self.names.insert(id, target.to_owned());
        }
        self.data(source, target)?;
        // A mode without the right to write comes last.
        filetime::set_file_times(target, accessed(&meta), modified(&meta))?;
        fs::set_permissions(target, fs::Permissions::from_mode(meta.mode() & 0o7777))
    }

    /// Copies the data: by reflink until the file system refuses one, which it then does for all.
    fn data(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        if self.copied.by_reflink {
            match reflink_copy::reflink(source, target) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                Err(_) => self.copied.by_reflink = false,
            }
        }
        fs::copy(source, target).map(drop)
    }
}

fn modified(meta: &fs::Metadata) -> FileTime {
    FileTime::from_last_modification_time(meta)
}

fn accessed(meta: &fs::Metadata) -> FileTime {
    FileTime::from_last_access_time(meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(path: &Path) -> (i64, i64) {
        let meta = fs::symlink_metadata(path).unwrap();
        (meta.mtime(), meta.mtime_nsec())
    }

    #[test]
    fn a_copy_has_contents_modes_links_and_times_and_shares_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir_all(from.join("skipped/a")).unwrap();
        fs::write(from.join("a/b/program"), "run").unwrap();
        fs::write(from.join("a/b/closed"), "secret").unwrap();
        fs::hard_link(from.join("a/b/program"), from.join("a/again")).unwrap();
        symlink("/nowhere/at/all", from.join("a/link")).unwrap();
        let mode = |path: &str, mode| {
            fs::set_permissions(from.join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        mode("a/b/program", 0o755);
        mode("a/b/closed", 0o400);
        let old = FileTime::from_unix_time(1_000_000_000, 123_456_789);
        for path in ["a/b/program", "a/b/closed", "a/b", "a"] {
            filetime::set_file_times(from.join(path), old, old).unwrap();
        }
        filetime::set_symlink_file_times(from.join("a/link"), old, old).unwrap();
        mode("a/b", 0o555);

        let copied = copy_tree(&from, &to, |path| path == Path::new("skipped")).unwrap();
        assert_eq!(copied.files, 3);
        assert!(!to.join("skipped").exists());
        for path in [
            "",
            "a",
            "a/b",
            "a/b/program",
            "a/b/closed",
            "a/link",
            "a/again",
        ] {
            let meta = |root: &Path| fs::symlink_metadata(root.join(path)).unwrap();
            assert_eq!(meta(&to).mode(), meta(&from).mode(), "{path}");
            assert_eq!(time(&to.join(path)), time(&from.join(path)), "{path}");
            assert_ne!(meta(&to).ino(), meta(&from).ino(), "{path}");
        }
        assert_eq!(fs::read(to.join("a/again")).unwrap(), b"run");
        let inode = |path: &str| fs::metadata(to.join(path)).unwrap().ino();
        assert_eq!(inode("a/again"), inode("a/b/program"));
        fs::write(to.join("a/again"), "changed").unwrap();
        assert_eq!(fs::read(from.join("a/b/program")).unwrap(), b"run");
        // so that the folder can be removed
        mode("a/b", 0o755);
        fs::set_permissions(to.join("a/b"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn nothing_is_copied_over_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        assert!(copy_tree(&from, &to, |_| false).is_err());
    }
}
