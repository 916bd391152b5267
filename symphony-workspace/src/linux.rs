//! What only Linux has: opening beneath a folder without following links, `/proc`, `statfs`.
//!
//! A port to another system replaces this file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, linkat, mkdirat, open, openat2,
    renameat_with, statfs, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

/// Tries of one open; the kernel asks for another when a rename went on at the same time.
const OPEN_TRIES_MAX: usize = 32;

/// A folder below which files are opened; no path given to it leads out of it, and no link is followed.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
}

impl Folder {
    /// Opens a folder by its full path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            fd: retry_on_intr(|| open(path, flags, Mode::empty()))?,
        })
    }

    fn beneath(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC;
        for _ in 0..OPEN_TRIES_MAX {
            match retry_on_intr(|| openat2(&self.fd, path, flags, mode, resolve)) {
                Err(Errno::AGAIN) => {}
                other => return Ok(other?),
            }
        }
        Err(Errno::AGAIN.into())
    }

    /// Opens a file for reading. Never blocks, also not on a FIFO.
    pub(crate) fn read(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(self.beneath(path, flags, Mode::empty())?.into())
    }

    /// Lists what is in a folder below this one, or in itself, in no order.
    pub(crate) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let fd = self.readable(path)?;
        let mut names = Vec::new();
        for entry in retry_on_intr(|| Dir::read_from(&fd))? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Opens a folder below this one, or itself, so that it can be listed.
    pub(crate) fn readable(&self, path: &Path) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        self.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }

    /// Opens a folder below this one.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            return self.folder(Path::new("."));
        }
        let fd = self.beneath(path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        Ok(Self { fd })
    }

    /// Creates a folder and its parents, and opens it.
    pub(crate) fn make_folder(&self, path: &Path) -> io::Result<Self> {
        let mut made = PathBuf::new();
        for part in path {
            made.push(part);
            let parent = self.folder(made.parent().unwrap_or(Path::new("")))?;
            match mkdirat(parent.fd.as_fd(), part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.folder(path)
    }

    /// Creates a file that must not exist, readable by the owner only until it is complete.
    pub(crate) fn create(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(0o600);
        Ok(self.beneath(path, flags, mode)?.into())
    }

    /// Gives a file of this folder its final name, unless something has that name.
    pub(crate) fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot rename without replacing; a hard link cannot replace.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
                unlinkat(&self.fd, from, AtFlags::empty())?;
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// Moves what is in this folder to a path that is free, whatever it is; a link is moved, not followed.
    pub(crate) fn move_out(&self, name: &Path, to: &Path) -> io::Result<()> {
        Ok(renameat_with(
            &self.fd,
            name,
            CWD,
            to,
            RenameFlags::NOREPLACE,
        )?)
    }

    /// Moves what is at a path into this folder, unless something has the name.
    pub(crate) fn move_in(&self, from: &Path, name: &Path) -> io::Result<()> {
        Ok(renameat_with(
            CWD,
            from,
            &self.fd,
            name,
            RenameFlags::NOREPLACE,
        )?)
    }

    /// Removes a file of this folder.
    pub(crate) fn remove(&self, name: &Path) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }
}

/// Returns whether an error means that a symbolic link, or a path out of the folder, was met.
pub(crate) fn is_link_error(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::XDEV]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Returns the processes that have their working folder at or below a path.
///
/// Processes of other users that may not be inspected are not seen.
pub(crate) fn processes_inside(path: &Path) -> Vec<u32> {
    let path = path.canonicalize().unwrap_or_else(|_gone| path.to_owned());
    processes()
        .filter(|pid| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&path))
        })
        .collect()
}

/// Returns the git processes that have their working folder at or below a path.
pub(crate) fn git_processes_inside(path: &Path) -> Vec<u32> {
    processes_inside(path)
        .into_iter()
        .filter(|pid| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.starts_with("git"))
        })
        .collect()
}

/// Returns the processes that hold a file open; one that was removed meanwhile is not found by its name.
pub fn processes_with_open(file: &Path) -> Vec<u32> {
    let holds = |pid: u32| {
        fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|entries| {
            entries
                .flatten()
                .any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == file))
        })
    };
    processes().filter(|pid| holds(*pid)).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the kernel's number of the file system that holds a path.
pub(crate) fn file_system_magic(path: &Path) -> io::Result<u64> {
    let magic = statfs(path)?.f_type;
    // The field is signed on some targets; only its low 32 bits are ever used.
    #[expect(clippy::cast_sign_loss, reason = "the bits are the number")]
    let bits = magic as u64;
    Ok(bits & 0xffff_ffff)
}
