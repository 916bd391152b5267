//! Copying a folder with all times, so that no tool takes the copy for newer or older than it is.
//!
//! Never by hard links: build tools write through them, and the original would change.

use std::ffi::CString;
use std::fs::DirBuilder;
use std::io;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, Statx, mkdirat};

use super::copy_entry::{Attributes, Pair, Target, link};
use super::entries::{Entry, Tree, kind_of, look_at, look_in, odd};
use super::file_data::Small;
use super::marks::{Mark, Marks, Part, look_through};
use crate::threads::{Step, parts_of, thread_count, work_through};

/// The most files of one task: a folder of build output has thousands, and several threads should share them.
const FILES_A_TASK: NonZero<usize> = NonZero::new(128).expect("128 is not zero");

/// What is copied in another way than the rest. The names are those of entries of the root.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exceptions<'a> {
    /// Entries that are not copied.
    pub(super) left_out: &'a [&'a str],
    /// Folders whose contents git does not compare, so that small files are shared there, too.
    pub(super) not_compared: &'a [&'a str],
}

/// What a copy took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copied {
    /// How many files there are.
    pub(super) files: usize,
    /// Whether the file system shared the data of all files that it was asked to share.
    pub(super) by_reflink: bool,
    /// What the original looked like, without exception: each file after its data had been taken, so that a file that changed
    /// before or meanwhile does not look as it did.
    pub(super) source: Marks,
}

/// Copies a folder to a path where nothing is yet.
///
/// Files that are one file under several names are one again in the copy.
///
/// # Errors
/// When something cannot be read or written, or is neither a file, a link nor a folder. Then the copy is incomplete.
pub(super) fn copy_tree(from: &Path, to: &Path, exceptions: Exceptions) -> io::Result<Copied> {
    copy_with(thread_count(), from, to, exceptions)
}

fn copy_with(threads: usize, from: &Path, to: &Path, exceptions: Exceptions) -> io::Result<Copied> {
    DirBuilder::new().mode(0o700).create(to)?;
    let copy = Copy {
        source: Tree::open(from)?,
        target: Target::open(to)?,
        exceptions,
    };
    let root = vec![Task::Folder(PathBuf::new())];
    let done = work_through(threads, root, |task| copy.step(task))?;
    let mut folders = Vec::new();
    let (mut files, mut parts) = (0, Vec::new());
    for one in done {
        files += one.files;
        folders.extend(one.folder);
        parts.extend(one.seen);
    }
    copy.finish(folders)?;
    Ok(Copied {
        files,
        by_reflink: copy.target.is_by_reflink(),
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
#[derive(Default)]
struct Done {
    files: usize,
    seen: Vec<Part>,
    /// A folder that gets its mode and times when everything in it is there.
    folder: Option<(PathBuf, Attributes)>,
}

/// A copy that is being made.
struct Copy<'a> {
    source: Tree,
    target: Target,
    exceptions: Exceptions<'a>,
}

impl Copy<'_> {
    fn step(&self, task: Task) -> io::Result<Step<Task, Done>> {
        match task {
            Task::Folder(path) => self.folder(path),
            Task::Files(folder, files) => Ok(Step::last(self.files(&folder, files)?)),
            Task::LeftOut(path) => {
                let (part, inner) = look_through(&self.source, path, |_| false)?;
                let seen = vec![part];
                let done = Done {
                    seen,
                    ..Done::default()
                };
                let (first, later) = (Vec::new(), inner.into_iter().map(Task::LeftOut).collect());
                Ok(Step { done, first, later })
            }
        }
    }

    /// Makes the folders in a folder, and copies its files or leaves them to further tasks.
    fn folder(&self, path: PathBuf) -> io::Result<Step<Task, Done>> {
        let pair = Pair {
            source: self.source.folder(&path)?,
            target: self.target.folder(&path)?,
            small: self.small_files_in(&path),
            path,
        };
        let look = look_at(&pair.source)?;
        let (mut files, mut seen, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.source.list(&pair.source)? {
            if self.is_left_out(&pair.path, &entry) {
                let found = look_in(&pair.source, &entry)?;
                let path = entry.path(&pair.path);
                match kind_of(&found) {
                    FileType::Directory => later.push(Task::LeftOut(path)),
                    FileType::RegularFile | FileType::Symlink => {}
                    _ => return Err(odd(&path)),
                }
                seen.push(Mark::of(entry.name, &found));
                continue;
            }
            let kind = match entry.kind {
                FileType::Unknown => kind_of(&look_in(&pair.source, &entry)?),
                kind => kind,
            };
            if kind == FileType::Directory {
                mkdirat(&pair.target, &entry.name, Mode::RWXU)?;
                later.push(Task::Folder(entry.path(&pair.path)));
            } else {
                files.push(Entry { kind, ..entry });
            }
        }
        let pair = Arc::new(pair);
        let mut parts = parts_of(files, FILES_A_TASK).into_iter();
        let mut done = self.files(&pair, parts.next().unwrap_or_default())?;
        let files = parts.map(|part| Task::Files(Arc::clone(&pair), part));
        let first = files.collect();
        done.seen.push((pair.path.clone(), seen));
        done.seen.extend(own_mark(&pair.path, &look)?);
        done.folder = Some((pair.path.clone(), Attributes::of(&look)));
        Ok(Step { done, first, later })
    }

    fn is_left_out(&self, folder: &Path, entry: &Entry) -> bool {
        let name = entry.name.as_bytes();
        let mut left_out = self.exceptions.left_out.iter();
        folder.as_os_str().is_empty() && left_out.any(|other| other.as_bytes() == name)
    }

    fn small_files_in(&self, folder: &Path) -> Small {
        let mut roots = self.exceptions.not_compared.iter();
        if roots.any(|root| folder.starts_with(root)) {
            Small::Shared
        } else {
            Small::Copied
        }
    }

    fn files(&self, folder: &Pair, files: Vec<Entry>) -> io::Result<Done> {
        let mut done = Done::default();
        let mut seen = Vec::with_capacity(files.len());
        for entry in files {
            let found = match entry.kind {
                FileType::RegularFile => {
                    done.files += 1;
                    self.target.file(folder, &entry)?
                }
                FileType::Symlink => link(folder, &entry)?,
                _ => return Err(odd(&entry.path(&folder.path))),
            };
            seen.push(Mark::of(entry.name, &found));
        }
        done.seen.push((folder.path.clone(), seen));
        Ok(done)
    }

    /// Gives folders their modes and times.
    fn finish(&self, mut folders: Vec<(PathBuf, Attributes)>) -> io::Result<()> {
        folders.sort_unstable_by(|a, b| b.0.cmp(&a.0));
        // Those inside come first: a folder's time changes with its entries, and one that cannot be written takes none.
        for (path, attributes) in folders {
            attributes.give_to(self.target.folder(&path)?)?;
        }
        Ok(())
    }
}

/// Returns the mark of a folder, as an entry of the one above. The root has none.
fn own_mark(path: &Path, found: &Statx) -> io::Result<Option<Part>> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    let mark = Mark::of(CString::new(name.as_bytes())?, found);
    Ok(Some((above.to_owned(), vec![mark])))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use filetime::FileTime;

    use super::*;

    const SKIPPED: Exceptions = Exceptions {
        left_out: &["skipped"],
        not_compared: &[],
    };

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

        let copied = copy_tree(&from, &to, SKIPPED).unwrap();
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
        assert!(copy_tree(&from, &to, Exceptions::default()).is_err());
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
        for (threads, not_compared) in [(1, &[][..]), (2, &["a"]), (8, &[])] {
            let to = folder.path().join(format!("to-{threads}"));
            let exceptions = Exceptions {
                not_compared,
                ..Exceptions::default()
            };
            let copied = copy_with(threads, &from, &to, exceptions).unwrap();
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
        let copied = copy_tree(&from, &to, SKIPPED).unwrap();
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
        let error = copy_tree(&from, &to, Exceptions::default()).unwrap_err();
        let expected = "7/a/socket is neither a file, a link nor a folder";
        assert_eq!(error.to_string(), expected);
    }

    fn copy_of<'a>(from: &Path, to: &Path, exceptions: Exceptions<'a>) -> Copy<'a> {
        fs::create_dir(to).unwrap();
        Copy {
            source: Tree::open(from).unwrap(),
            target: Target::open(to).unwrap(),
            exceptions,
        }
    }

    #[test]
    fn tasks_that_keep_a_folder_open_come_before_those_that_open_one() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for name in ["a", "b/c", "skipped"] {
            fs::create_dir_all(from.join(name)).unwrap();
        }
        for number in 0..=2 * FILES_A_TASK.get() {
            fs::write(from.join(format!("{number}")), "1").unwrap();
        }
        let step = copy_of(&from, &to, SKIPPED).folder(PathBuf::new()).unwrap();
        let is_open = |task: &Task| matches!(task, Task::Files(..));
        assert_eq!((step.first.len(), step.later.len()), (2, 3));
        assert!(step.first.iter().all(is_open));
        assert!(!step.later.iter().any(is_open));
    }

    #[test]
    fn small_files_are_shared_only_where_git_compares_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        let exceptions = Exceptions {
            not_compared: &["target"],
            ..Exceptions::default()
        };
        let copy = copy_of(&from, &to, exceptions);
        for path in ["", "src", "src/target", "targets"] {
            assert_eq!(copy.small_files_in(Path::new(path)), Small::Copied);
        }
        for path in ["target", "target/debug/deps"] {
            assert_eq!(copy.small_files_in(Path::new(path)), Small::Shared);
        }
    }

    /// Something else can take the place of a folder after the one above has been listed.
    #[test]
    fn what_has_taken_the_place_of_a_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let outside = folder.path().join("outside");
        for made in [&from, &outside] {
            fs::create_dir(made).unwrap();
        }
        fs::write(outside.join("secret"), "1").unwrap();
        symlink(&outside, from.join("folder")).unwrap();
        let copy = copy_of(&from, &to, Exceptions::default());
        fs::create_dir(to.join("folder")).unwrap();
        assert!(copy.folder("folder".into()).is_err());
        assert!(look_through(&copy.source, "folder".into(), |_| false).is_err());
        assert_eq!(fs::read_dir(to.join("folder")).unwrap().count(), 0);
    }
}
