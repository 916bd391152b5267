//! Copying a folder with all times, so that no tool takes the copy for newer or older than it is.
//!
//! Never by hard links: build tools write through them, and the original would change.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Statx, Timespec, Timestamps, fchmod, futimens, linkat,
    mkdirat, openat, readlinkat, symlinkat, utimensat,
};

use super::entries::{Entry, Tree, kind_of, look_at, look_in, odd};
use super::file_data::FileData;
use super::marks::{Mark, Marks, Part, look_through};
use crate::linux::Folder;
use crate::threads::{Step, parts_of, thread_count, work_through};

/// The most files of one task: a folder of build output has thousands, and several threads should share them.
const FILES_A_TASK: NonZero<usize> = NonZero::new(128).expect("128 is not zero");

/// What a copy took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copied {
    /// How many files there are.
    pub(super) files: usize,
    /// Whether the file system shared the data of all that are worth it.
    pub(super) by_reflink: bool,
    /// What the original looked like, without exception: each file after its data had been taken, so that a file that changed
    /// before or meanwhile does not look as it did.
    pub(super) source: Marks,
}

/// Copies a folder to a path where nothing is yet, without the entries of its root that `is_left_out`.
///
/// Files that are one file under several names are one again in the copy.
///
/// # Errors
/// When something cannot be read or written, or is neither a file, a link nor a folder. Then the copy is incomplete.
pub(super) fn copy_tree(
    from: &Path,
    to: &Path,
    is_left_out: impl Fn(&Path) -> bool + Sync,
) -> io::Result<Copied> {
    copy_with(thread_count(), from, to, is_left_out)
}

fn copy_with(
    threads: usize,
    from: &Path,
    to: &Path,
    is_left_out: impl Fn(&Path) -> bool + Sync,
) -> io::Result<Copied> {
    DirBuilder::new().mode(0o700).create(to)?;
    let copy = Copy {
        source: Tree::open(from)?,
        target: Folder::open(to)?,
        to,
        data: FileData::default(),
        names: Mutex::default(),
    };
    let root = vec![Task::Folder(PathBuf::new())];
    let done = work_through(threads, root, |task| copy.step(task, &is_left_out))?;
    let mut folders: Vec<(PathBuf, Statx)> = Vec::new();
    let (mut files, mut parts) = (0, Vec::new());
    for one in done {
        files += one.files;
        folders.extend(one.folder);
        parts.extend(one.seen);
    }
    copy.finish(folders)?;
    Ok(Copied {
        files,
        by_reflink: copy.data.is_by_reflink(),
        source: Marks::from_parts(parts),
    })
}

/// A part of the work.
enum Task {
    Folder(PathBuf),
    /// Some of the files of a folder. It stays open until the last of them is copied.
    Files(Arc<Pair>, Vec<Entry>),
    /// A folder that is only looked at.
    LeftOut(PathBuf),
}

/// What a task did.
struct Done {
    files: usize,
    seen: Vec<Part>,
    /// A folder that gets its mode and times when everything in it is there.
    folder: Option<(PathBuf, Statx)>,
}

impl Done {
    fn looked(seen: Part) -> Self {
        Self {
            files: 0,
            seen: vec![seen],
            folder: None,
        }
    }
}

/// A folder and its copy, both open: a name in them leads nowhere else, whatever happens to the folders above.
struct Pair {
    path: PathBuf,
    source: OwnedFd,
    target: OwnedFd,
}

/// A copy that is being made.
struct Copy<'a> {
    source: Tree,
    target: Folder,
    to: &'a Path,
    data: FileData,
    /// The copies of files that have several names, by device and inode.
    names: Mutex<BTreeMap<(u32, u32, u64), PathBuf>>,
}

impl Copy<'_> {
    fn step(
        &self,
        task: Task,
        is_left_out: impl Fn(&Path) -> bool,
    ) -> io::Result<Step<Task, Done>> {
        match task {
            Task::Folder(path) => self.folder(path, is_left_out),
            Task::Files(folder, files) => Ok(Step::last(self.files(&folder, files)?)),
            Task::LeftOut(path) => {
                let (seen, inner) = look_through(&self.source, path, |_| false)?;
                let (first, later) = (Vec::new(), inner.into_iter().map(Task::LeftOut).collect());
                let done = Done::looked(seen);
                Ok(Step { done, first, later })
            }
        }
    }

    /// Makes the folders in a folder, and copies its files or leaves them to further tasks.
    fn folder(
        &self,
        path: PathBuf,
        is_left_out: impl Fn(&Path) -> bool,
    ) -> io::Result<Step<Task, Done>> {
        let pair = Pair {
            source: self.source.folder(&path)?,
            target: self.target.readable(&path)?,
            path,
        };
        let look = look_at(&pair.source)?;
        let (mut files, mut seen, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.source.list(&pair.source)? {
            let path = entry.path(&pair.path);
            let is_left_out = pair.path.as_os_str().is_empty() && is_left_out(&path);
            let is_known = !matches!(entry.kind, FileType::Directory | FileType::Unknown);
            if is_known && !is_left_out {
                files.push(entry);
                continue;
            }
            let found = look_in(&pair.source, &entry)?;
            match kind_of(&found) {
                FileType::Directory if is_left_out => later.push(Task::LeftOut(path)),
                FileType::Directory => {
                    mkdirat(&pair.target, &entry.name, Mode::RWXU)?;
                    later.push(Task::Folder(path));
                }
                FileType::RegularFile | FileType::Symlink if is_left_out => {}
                kind => {
                    files.push(Entry { kind, ..entry });
                    continue;
                }
            }
            seen.push(Mark::of(entry.name, &found));
        }
        let pair = Arc::new(pair);
        let mut parts = parts_of(files, FILES_A_TASK).into_iter();
        let mut done = self.files(&pair, parts.next().unwrap_or_default())?;
        let files = parts.map(|part| Task::Files(Arc::clone(&pair), part));
        let first = files.collect();
        done.seen.push((pair.path.clone(), seen));
        done.folder = Some((pair.path.clone(), look));
        Ok(Step { done, first, later })
    }

    fn files(&self, folder: &Pair, files: Vec<Entry>) -> io::Result<Done> {
        let mut done = Done {
            files: 0,
            seen: Vec::new(),
            folder: None,
        };
        let mut seen = Vec::with_capacity(files.len());
        for entry in files {
            let found = match entry.kind {
                FileType::RegularFile => {
                    done.files += 1;
                    self.file(folder, &entry)?
                }
                FileType::Symlink => link(folder, &entry)?,
                _ => return Err(odd(&entry.path(&folder.path))),
            };
            seen.push(Mark::of(entry.name, &found));
        }
        done.seen.push((folder.path.clone(), seen));
        Ok(done)
    }

    /// Copies a file. Returns what the original looked like afterwards.
    fn file(&self, folder: &Pair, entry: &Entry) -> io::Result<Statx> {
        let name = &entry.name;
        // A link or a pipe that has taken its place is not followed, and does not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let source = openat(&folder.source, name, flags | OFlags::CLOEXEC, Mode::empty())?;
        let found = look_at(&source)?;
        if kind_of(&found) != FileType::RegularFile {
            return Err(odd(&entry.path(&folder.path)));
        }
        let Some(target) = self.create(folder, entry, &found)? else {
            return Ok(found);
        };
        self.data.copy(&source, &target, found.stx_size)?;
        // The mask of the process may have taken rights, and a write takes those of another user.
        if look_at(&target)?.stx_mode != found.stx_mode {
            fchmod(&target, mode_of(&found))?;
        }
        futimens(&target, &times_of(&found))?;
        look_at(&source)
    }

    /// Makes a file; `None` if it is another name for one that was copied before.
    fn create(&self, folder: &Pair, entry: &Entry, found: &Statx) -> io::Result<Option<OwnedFd>> {
        let create = || {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            openat(&folder.target, &entry.name, flags, mode_of(found))
        };
        if found.stx_nlink < 2 {
            return Ok(Some(create()?));
        }
        // The lock is held until the file is there: another thread can give it another name then.
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (found.stx_dev_major, found.stx_dev_minor, found.stx_ino);
        if let Some(first) = names.get(&id) {
            let first = self.to.join(first);
            linkat(CWD, first, &folder.target, &entry.name, AtFlags::empty())?;
            return Ok(None);
        }
        let target = create()?;
        names.insert(id, entry.path(&folder.path));
        Ok(Some(target))
    }

    /// Gives folders their modes and times.
    fn finish(&self, mut folders: Vec<(PathBuf, Statx)>) -> io::Result<()> {
        folders.sort_unstable_by(|a, b| b.0.cmp(&a.0));
        // Those inside come first: a folder's time changes with its entries, and one that cannot be written takes none.
        for (path, found) in folders {
            let target = self.target.readable(&path)?;
            fchmod(&target, mode_of(&found))?;
            futimens(&target, &times_of(&found))?;
        }
        Ok(())
    }
}

/// Copies a link. Returns what the original looked like afterwards.
fn link(folder: &Pair, entry: &Entry) -> io::Result<Statx> {
    let leads_to = readlinkat(&folder.source, &entry.name, Vec::new())?;
    let found = look_in(&folder.source, entry)?;
    symlinkat(&leads_to, &folder.target, &entry.name)?;
    utimensat(
        &folder.target,
        &entry.name,
        &times_of(&found),
        AtFlags::SYMLINK_NOFOLLOW,
    )?;
    Ok(found)
}

fn mode_of(found: &Statx) -> Mode {
    Mode::from_raw_mode(u32::from(found.stx_mode) & 0o7777)
}

fn times_of(found: &Statx) -> Timestamps {
    let time = |at: &rustix::fs::StatxTimestamp| Timespec {
        tv_sec: at.tv_sec,
        tv_nsec: i64::from(at.tv_nsec),
    };
    Timestamps {
        last_access: time(&found.stx_atime),
        last_modification: time(&found.stx_mtime),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use filetime::FileTime;

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

    /// Kind and mode, time, number of names, and contents.
    type Described = (u32, (i64, i64), u64, Vec<u8>);

    /// Describes everything below a folder.
    fn described(root: &Path) -> BTreeMap<PathBuf, Described> {
        let mut found = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(path) = open.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            let mut bytes = Vec::new();
            if meta.is_dir() {
                let inner = fs::read_dir(&path).unwrap();
                open.extend(inner.map(|entry| entry.unwrap().path()));
            } else {
                bytes = fs::read(&path).unwrap();
            }
            let name = path.strip_prefix(root).unwrap().to_owned();
            let links = if meta.is_dir() { 0 } else { meta.nlink() };
            found.insert(name, (meta.mode(), time(&path), links, bytes));
        }
        found
    }

    #[test]
    fn threads_that_share_a_large_folder_make_the_same_tree() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        for number in 0..=3 * FILES_A_TASK.get() {
            let inner = from.join(format!("a/{}/b", number % 7));
            fs::create_dir_all(&inner).unwrap();
            let old = from.join(format!("a/{number}.txt"));
            // Some are shared by the file system, and some are too small for that.
            fs::write(&old, vec![7; number * 200]).unwrap();
            fs::set_permissions(&old, fs::Permissions::from_mode(0o666)).unwrap();
            if number % 5 == 0 {
                fs::hard_link(&old, inner.join(format!("{number}"))).unwrap();
            }
            let time = FileTime::from_unix_time(1_000_000_000 + i64::try_from(number).unwrap(), 5);
            filetime::set_file_times(&old, time, time).unwrap();
        }
        let program = from.join("a/program");
        fs::write(&program, "run").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        let before = described(&from);
        let files = before.values().filter(|(_, _, links, _)| *links > 0);
        let files = files.count();
        for threads in [1, 2, 8] {
            let to = folder.path().join(format!("to-{threads}"));
            let copied = copy_with(threads, &from, &to, |_| false).unwrap();
            assert_eq!(described(&to), before, "{threads} threads");
            assert_eq!(copied.source, Marks::of(&from, |_| false).unwrap());
            assert_eq!(copied.files, files, "{threads} threads");
        }
    }

    #[test]
    fn what_is_left_out_counts_for_what_the_original_looked_like() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("skipped/a")).unwrap();
        fs::write(from.join("skipped/a/file"), "1").unwrap();
        fs::write(from.join("file"), "1").unwrap();
        let copied = copy_tree(&from, &to, |path| path == Path::new("skipped")).unwrap();
        assert_eq!(copied.source, Marks::of(&from, |_| false).unwrap());
        assert_eq!((copied.source.entries, copied.files), (4, 1));
        assert!(!to.join("skipped").exists());
    }

    #[test]
    fn what_is_no_file_ends_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for number in 0..20 {
            fs::create_dir_all(from.join(format!("{number}/a"))).unwrap();
            fs::write(from.join(format!("{number}/a/file")), "1").unwrap();
        }
        let _socket = std::os::unix::net::UnixListener::bind(from.join("7/a/socket")).unwrap();
        let error = copy_tree(&from, &to, |_| false).unwrap_err();
        let expected = "7/a/socket is neither a file, a link nor a folder";
        assert_eq!(error.to_string(), expected);
    }

    /// Something else can take the place of an entry after its folder has been listed.
    #[test]
    fn what_has_taken_the_place_of_a_file_or_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let outside = folder.path().join("outside");
        for made in [&from, &to, &outside] {
            fs::create_dir(made).unwrap();
        }
        fs::write(outside.join("secret"), "1").unwrap();
        symlink(outside.join("secret"), from.join("link")).unwrap();
        symlink(&outside, from.join("folder")).unwrap();
        let pipe = FileType::Fifo;
        rustix::fs::mknodat(CWD, from.join("pipe"), pipe, Mode::RWXU, 0).unwrap();
        let copy = Copy {
            source: Tree::open(&from).unwrap(),
            target: Folder::open(&to).unwrap(),
            to: &to,
            data: FileData::default(),
            names: Mutex::default(),
        };
        let root = Pair {
            path: PathBuf::new(),
            source: copy.source.folder(Path::new("")).unwrap(),
            target: copy.target.readable(Path::new("")).unwrap(),
        };
        for name in [c"link", c"folder", c"pipe"] {
            let entry = Entry {
                name: name.to_owned(),
                kind: FileType::RegularFile,
            };
            assert!(copy.file(&root, &entry).is_err(), "{name:?}");
        }
        fs::create_dir(to.join("folder")).unwrap();
        assert!(copy.folder("folder".into(), |_| false).is_err());
        assert!(look_through(&copy.source, "folder".into(), |_| false).is_err());
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
        assert_eq!(fs::read_dir(to.join("folder")).unwrap().count(), 0);
    }
}
