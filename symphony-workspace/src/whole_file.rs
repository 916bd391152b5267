//! Writing files as a whole or not at all: a crash or a `kill -9` in the middle leaves the old file or the new one.
//!
//! A file is written without a name and locked, and gets a temporary name only to be renamed. So a temporary name
//! without a lock was left by a process that died, and the next process that writes to the folder removes it.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use tempfile::NamedTempFile;

/// The prefix of the name of a file that is being written.
const PREFIX: &str = ".symphony-";
/// The suffix, where the file system supports files without a name.
const SUFFIX: &str = ".new";
/// How many names are tried. A name is only taken by a process of another machine or container with the same pid.
const NAMES_MAX: u32 = 64;
/// The mode of any new file: readable by everyone that the user's umask allows.
const SHARED: u32 = 0o666;
/// The mode of a file for the user alone.
const PRIVATE: u32 = 0o600;

/// Writes a file. An existing one is replaced, and its owner and permissions are kept.
///
/// # Errors
/// When it cannot be written. Then the existing file is unchanged.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let mut file = Unwritten::beside(path, SHARED)?;
    file.write_all(contents.as_ref())?;
    if let Ok(before) = std::fs::metadata(path) {
        let file = file.as_file();
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            fchown(file, Some(before.uid()), Some(before.gid()))?;
        }
        file.set_permissions(before.permissions())?;
    }
    file.replace_on_disk(path)
}

/// Writes a file that only the user can read. An existing one is replaced.
///
/// # Errors
/// When it cannot be written. Then the existing file is unchanged.
pub fn write_private(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let mut file = Unwritten::beside(path, PRIVATE)?;
    file.write_all(contents.as_ref())?;
    file.replace_on_disk(path)
}

/// Writes a file that only the user can read, without waiting for the disk: after a power cut, the old file or an empty
/// one may be there. For notes that may lag behind.
///
/// # Errors
/// When it cannot be written. Then the existing file is unchanged.
pub(crate) fn write_note(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let mut file = Unwritten::beside(path, PRIVATE)?;
    file.write_all(contents.as_ref())?;
    file.replace(path)
}

/// Writes a new file.
///
/// # Errors
/// When it cannot be written, with the kind `AlreadyExists` when a file exists, which is unchanged.
pub fn write_new(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let mut file = Unwritten::beside(path, SHARED)?;
    file.write_all(contents.as_ref())?;
    // As in `replace_on_disk`: the contents reach the disk before the name, and the name before this returns.
    file.as_file().sync_all()?;
    file.name_new(path)?;
    sync_folder(path)
}

/// Removes the files that processes were writing in a folder when they died.
pub fn remove_unwritten(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if is_temporary(&entry.file_name()) && was_left(&entry.path()) {
            // Another process may have been faster, and a file that cannot be removed is in no one's way.
            let _gone = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let inner = name.as_bytes().strip_prefix(PREFIX.as_bytes());
    let inner = inner.and_then(|name| name.strip_suffix(SUFFIX.as_bytes()));
    inner.is_some_and(|inner| {
        let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
        !inner.is_empty() && inner.iter().all(is_part)
    })
}

/// Returns whether no process is writing a file any longer. A link or a pipe in its place is not opened or waited for.
fn was_left(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    file.is_ok_and(|file| {
        let is_file = file.metadata().is_ok_and(|found| found.is_file());
        is_file && file.try_lock().is_ok()
    })
}

/// A file that has no final name yet.
#[derive(Debug)]
enum Unwritten {
    /// Without any name, and locked while it is written.
    Nameless(File),
    /// With a temporary name, where the file system supports no nameless files. A process that dies leaves it.
    Named(NamedTempFile),
}

impl Unwritten {
    fn beside(path: &Path, mode: u32) -> Result<Self> {
        let folder = folder_of(path);
        remove_unwritten(folder);
        if let Some(file) = nameless_in(folder, mode) {
            return Ok(Self::Nameless(file));
        }
        let named = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        Ok(Self::Named(named))
    }

    fn as_file(&self) -> &File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    fn write_all(&mut self, contents: &[u8]) -> Result<()> {
        match self {
            Self::Nameless(file) => file.write_all(contents),
            Self::Named(file) => file.write_all(contents),
        }
    }

    fn replace_on_disk(self, path: &Path) -> Result<()> {
        // The contents must reach the disk before the name, or a power cut could leave an empty file.
        self.as_file().sync_all()?;
        self.replace(path)?;
        sync_folder(path)
    }

    fn replace(self, path: &Path) -> Result<()> {
        match self {
            Self::Nameless(file) => {
                let temporary = name_beside(&file, path)?;
                std::fs::rename(&temporary, path).inspect_err(|_| {
                    // The error of the rename is the one to report.
                    let _gone = std::fs::remove_file(&temporary);
                })
            }
            Self::Named(file) => file.persist(path).map(drop).map_err(|error| error.error),
        }
    }

    fn name_new(self, path: &Path) -> Result<()> {
        match self {
            Self::Nameless(file) => give_name(&file, path),
            Self::Named(file) => {
                let named = file.persist_noclobber(path);
                named.map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Creates a file without a name; `None` if the file system does not support it, or there is no `/proc` to name it.
fn nameless_in(folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
    file.try_lock().ok()?;
    descriptor_path(&file).exists().then_some(file)
}

/// Gives a file a temporary name beside a path.
fn name_beside(file: &File, path: &Path) -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    for _ in 0..NAMES_MAX {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{process}-{number}{SUFFIX}");
        let temporary = folder_of(path).join(name);
        match give_name(file, &temporary) {
            Ok(()) => return Ok(temporary),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::from(ErrorKind::AlreadyExists))
}

fn give_name(file: &File, path: &Path) -> Result<()> {
    let from = descriptor_path(file);
    Ok(linkat(CWD, from, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn sync_folder(path: &Path) -> Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        write_private(&path, "one").unwrap();
        assert_eq!(mode(&path), PRIVATE);
        write_whole(&path, "two").unwrap();
        assert_eq!(mode(&path), PRIVATE);
        let error = write_new(&path, "three").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (link, led) = (folder.path().join("link"), folder.path().join("led"));
        std::fs::write(&led, "as it was").unwrap();
        std::os::unix::fs::symlink(&led, &link).unwrap();
        write_private(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&led).unwrap(), "as it was");
        assert!(!link.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn what_a_process_left_that_died_while_it_wrote_is_removed_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = || {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let left = nameless_in(folder.path(), SHARED).unwrap();
        name_beside(&left, &at("notes")).unwrap();
        let at_work = nameless_in(folder.path(), SHARED).unwrap();
        let at_work_name = name_beside(&at_work, &at("notes")).unwrap();
        let at_work_name = at_work_name.file_name().unwrap().to_str().unwrap();
        for name in [".symphony-.new", ".symphony-copy-1.new", ".symphony-1-1"] {
            std::fs::write(at(name), "not ours").unwrap();
        }
        std::fs::create_dir(at(".symphony-1-1.new")).unwrap();
        let before = names();
        // The process dies. A child that another test is starting has its open files until its program begins, and so the lock.
        left.unlock().unwrap();
        drop(left);
        write_whole(&at("notes"), "one").unwrap();
        let mut kept: Vec<String> = vec![
            ".symphony-.new".to_owned(),
            ".symphony-1-1".to_owned(),
            ".symphony-1-1.new".to_owned(),
            ".symphony-copy-1.new".to_owned(),
            at_work_name.to_owned(),
            "notes".to_owned(),
        ];
        kept.sort();
        assert_eq!(names(), kept, "of {before:?}");
    }
}
