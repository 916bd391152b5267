//! Copying one entry of a folder, a file or a link, with mode and times.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Statx, Timespec, Timestamps, fchmod, futimens, linkat, openat,
    readlinkat, symlinkat, utimensat,
};
use rustix::io::retry_on_intr;

use super::entries::{Entry, kind_of, look_at, look_in, odd};
use super::file_data::{FileData, Small};
use crate::linux::Folder;

/// A folder and its copy, both open: a name in them leads nowhere else, whatever happens to the folders above.
pub(super) struct Pair {
    pub(super) path: PathBuf,
    pub(super) source: OwnedFd,
    pub(super) target: OwnedFd,
    pub(super) small: Small,
}

/// What a copy gets besides data.
#[derive(Debug)]
pub(super) struct Attributes {
    mode: Mode,
    times: Timestamps,
}

impl Attributes {
    pub(super) fn of(found: &Statx) -> Self {
        let time = |at: &rustix::fs::StatxTimestamp| Timespec {
            tv_sec: at.tv_sec,
            tv_nsec: i64::from(at.tv_nsec),
        };
        Self {
            mode: Mode::from_raw_mode(u32::from(found.stx_mode) & 0o7777),
            times: Timestamps {
                last_access: time(&found.stx_atime),
                last_modification: time(&found.stx_mtime),
            },
        }
    }

    /// Gives an open file or folder its mode and times. Nothing is written to it afterwards.
    pub(super) fn give_to(&self, target: impl AsFd) -> io::Result<()> {
        // The mask of the process may have taken rights, and a write takes those of another user.
        if Self::of(&look_at(&target)?).mode != self.mode {
            retry_on_intr(|| fchmod(&target, self.mode))?;
        }
        Ok(futimens(&target, &self.times)?)
    }
}

/// Device and inode.
type FileId = (u32, u32, u64);

/// The folder that is copied to.
pub(super) struct Target {
    root: Folder,
    data: FileData,
    /// The copies of files that have several names.
    names: Mutex<BTreeMap<FileId, PathBuf>>,
}

impl Target {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self {
            root: Folder::open(root)?,
            data: FileData::default(),
            names: Mutex::default(),
        })
    }

    /// Opens a folder of it.
    pub(super) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        self.root.readable(path)
    }

    /// Returns whether the file system shared the data of all files that it was asked to share.
    pub(super) fn is_by_reflink(&self) -> bool {
        self.data.is_by_reflink()
    }

    /// Copies a file. Returns what the original looked like afterwards.
    pub(super) fn file(&self, folder: &Pair, entry: &Entry) -> io::Result<Statx> {
        self.copy_data(folder, entry)?.finish()
    }

    fn copy_data(&self, folder: &Pair, entry: &Entry) -> io::Result<WithData> {
        // A link or a pipe that has taken its place is not followed, and does not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let source = open_in(&folder.source, entry, flags, Mode::empty())?;
        let found = look_at(&source)?;
        if kind_of(&found) != FileType::RegularFile {
            return Err(odd(&entry.path(&folder.path)));
        }
        let target = self.create(folder, entry, &found)?;
        if let Some(target) = &target {
            let size = found.stx_size;
            self.data.copy(&source, target, size, folder.small)?;
        }
        Ok(WithData {
            source,
            target,
            attributes: Attributes::of(&found),
        })
    }

    /// Makes a file; `None` if it is another name for one that was copied before.
    fn create(&self, folder: &Pair, entry: &Entry, found: &Statx) -> io::Result<Option<File>> {
        let create = || {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            open_in(&folder.target, entry, flags, Attributes::of(found).mode)
        };
        if found.stx_nlink < 2 {
            return Ok(Some(create()?));
        }
        // The lock is held until the file is there: another thread can give it another name then.
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (found.stx_dev_major, found.stx_dev_minor, found.stx_ino);
        if let Some(first) = names.get(&id) {
            let above = self.folder(first.parent().unwrap_or(Path::new("")))?;
            let name = first.file_name().unwrap_or_default();
            let flags = AtFlags::empty();
            linkat(above, name, &folder.target, &entry.name, flags)?;
            return Ok(None);
        }
        let target = create()?;
        names.insert(id, entry.path(&folder.path));
        Ok(Some(target))
    }
}

/// A file whose data has been copied.
struct WithData {
    source: File,
    /// `None` if another name of it had been copied before.
    target: Option<File>,
    attributes: Attributes,
}

impl WithData {
    /// Completes the copy. Returns what the original looks like now: a write that began before the data was copied shows.
    fn finish(self) -> io::Result<Statx> {
        if let Some(target) = &self.target {
            self.attributes.give_to(target)?;
        }
        look_at(&self.source)
    }
}

/// Copies a link. Returns what the original looked like afterwards.
pub(super) fn link(folder: &Pair, entry: &Entry) -> io::Result<Statx> {
    let leads_to = readlinkat(&folder.source, &entry.name, Vec::new())?;
    let found = look_in(&folder.source, entry)?;
    symlinkat(&leads_to, &folder.target, &entry.name)?;
    utimensat(
        &folder.target,
        &entry.name,
        &Attributes::of(&found).times,
        AtFlags::SYMLINK_NOFOLLOW,
    )?;
    Ok(found)
}

fn open_in(folder: &OwnedFd, entry: &Entry, flags: OFlags, mode: Mode) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| openat(folder, &entry.name, flags, mode))?;
    Ok(opened.into())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use rustix::fs::{CWD, mknodat};

    use super::super::marks::{Mark, Marks};
    use super::*;

    struct Place {
        root: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            for made in ["from", "to", "outside"] {
                fs::create_dir(root.path().join(made)).unwrap();
            }
            Self { root }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.path().join(path)
        }

        fn pair(&self, path: &str) -> Pair {
            let open = |root: &str| Folder::open(&self.path(root)).unwrap();
            Pair {
                source: open("from").readable(Path::new(path)).unwrap(),
                target: open("to").readable(Path::new(path)).unwrap(),
                path: path.into(),
                small: Small::Copied,
            }
        }

        fn target(&self) -> Target {
            Target::open(&self.path("to")).unwrap()
        }
    }

    fn entry(name: &CStr) -> Entry {
        Entry {
            name: name.to_owned(),
            kind: FileType::RegularFile,
        }
    }

    #[test]
    fn a_write_after_the_data_was_copied_shows() {
        let place = Place::new();
        fs::write(place.path("from/file"), "one").unwrap();
        let marks = |found: &Statx| {
            let mark = Mark::of(c"file".to_owned(), found);
            Marks::from_parts(vec![(PathBuf::new(), vec![mark])])
        };
        let before = Marks::of(&place.path("from"), |_| false).unwrap();
        let (pair, target) = (place.pair(""), place.target());
        let quiet = target.file(&pair, &entry(c"file")).unwrap();
        assert_eq!(marks(&quiet), before);
        fs::remove_file(place.path("to/file")).unwrap();

        let copied = target.copy_data(&pair, &entry(c"file")).unwrap();
        let opened = fs::OpenOptions::new()
            .append(true)
            .open(place.path("from/file"));
        opened.unwrap().write_all(b" and more").unwrap();
        let found = copied.finish().unwrap();
        assert_ne!(marks(&found), before);
        let after = Marks::of(&place.path("from"), |_| false).unwrap();
        assert_eq!(marks(&found), after);
        assert_eq!(fs::read(place.path("to/file")).unwrap(), b"one");
    }

    /// Something else can take the place of an entry after its folder has been listed.
    #[test]
    fn what_has_taken_the_place_of_a_file_is_not_followed() {
        let place = Place::new();
        fs::write(place.path("outside/secret"), "1").unwrap();
        symlink(place.path("outside/secret"), place.path("from/link")).unwrap();
        symlink(place.path("outside"), place.path("from/folder")).unwrap();
        mknodat(CWD, place.path("from/pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let (pair, target) = (place.pair(""), place.target());
        for name in [c"link", c"folder", c"pipe"] {
            assert!(target.file(&pair, &entry(name)).is_err(), "{name:?}");
        }
        assert_eq!(fs::read_dir(place.path("to")).unwrap().count(), 0);
    }

    #[test]
    fn another_name_is_not_looked_for_through_a_link() {
        let place = Place::new();
        for root in ["from", "to"] {
            fs::create_dir(place.path(root).join("a")).unwrap();
        }
        fs::write(place.path("from/a/first"), "1").unwrap();
        fs::write(place.path("outside/first"), "2").unwrap();
        for name in ["from/second", "from/third"] {
            fs::hard_link(place.path("from/a/first"), place.path(name)).unwrap();
        }
        let target = place.target();
        target.file(&place.pair("a"), &entry(c"first")).unwrap();
        target.file(&place.pair(""), &entry(c"second")).unwrap();
        let inode = |path: &str| fs::metadata(place.path(path)).unwrap().ino();
        assert_eq!(inode("to/second"), inode("to/a/first"));

        fs::rename(place.path("to/a"), place.path("to/b")).unwrap();
        symlink(place.path("outside"), place.path("to/a")).unwrap();
        let refused = target.file(&place.pair(""), &entry(c"third"));
        assert!(refused.is_err());
        assert!(!place.path("to/third").exists());
    }
}
