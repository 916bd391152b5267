//! What only Linux has: opening beneath a folder without following links, `/proc`, `statfs`.
//!
//! A port to another system replaces this file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, linkat, mkdirat, open, openat2,
    renameat_with, statfs, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::param::clock_ticks_per_second;

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
/// What the processes of a group have done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupWork {
    /// How much they have read and written.
    pub(crate) bytes: u64,
    /// How long they have used a processor.
    pub(crate) processor: Duration,
}

/// Returns what the processes of a group have done so far; `None` where that cannot be read, where one of them waits for a disk, or where git
/// talks HTTP: what goes through `send` and `recv` is not counted.
pub(crate) fn work_of_group(group: u32) -> Option<GroupWork> {
    let mut work = GroupWork {
        bytes: 0,
        processor: Duration::ZERO,
    };
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        // One that ends meanwhile is gone.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some(process) = ProcessStat::read(&stat).filter(|process| process.group == group)
        else {
            continue;
        };
        if process.waits_for_disk || process.name.starts_with("git-remote-") {
            return None;
        }
        match fs::read_to_string(entry.path().join("io")) {
            Ok(io) => work.bytes += bytes_of(&io),
            Err(_) if entry.path().join("stat").exists() => return None,
            Err(_) => {}
        }
        let milliseconds = process.ticks.saturating_mul(1_000) / clock_ticks_per_second().max(1);
        work.processor += Duration::from_millis(milliseconds);
    }
    Some(work)
}

/// What is read from the `stat` of a process.
#[derive(Debug, PartialEq, Eq)]
struct ProcessStat<'a> {
    /// The name of its program, cut after 15 bytes.
    name: &'a str,
    group: u32,
    waits_for_disk: bool,
    /// Its time on a processor.
    ticks: u64,
}

impl<'a> ProcessStat<'a> {
    /// Reads it. The second field is the name, in parentheses, and may have any characters.
    fn read(stat: &'a str) -> Option<Self> {
        let (start, fields) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [user, system] = [fields.get(11)?, fields.get(12)?].map(|ticks| ticks.parse::<u64>());
        Some(Self {
            name,
            group: fields.get(2)?.parse().ok()?,
            waits_for_disk: *fields.first()? == "D",
            ticks: user.ok()?.saturating_add(system.ok()?),
        })
    }
}

/// Adds what a process has read and written from its `io`: by calls, and from and to disks.
fn bytes_of(io: &str) -> u64 {
    let counts = io.lines().filter_map(|line| line.split_once(": "));
    counts
        .filter(|(name, _)| matches!(*name, "rchar" | "wchar" | "read_bytes" | "write_bytes"))
        .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let fields = "1 77 77 0 -1 4194560 1 2 3 4 50 7 9 9 20 0 1 0 100 1 1";
        for (start, name, waits_for_disk) in [
            ("12 (git) S", "git", false),
            ("12 (a) b (c) D", "a) b (c", true),
        ] {
            let stat = format!("{start} {fields}");
            let expected = ProcessStat {
                name,
                group: 77,
                waits_for_disk,
                ticks: 57,
            };
            assert_eq!(ProcessStat::read(&stat), Some(expected), "{stat}");
        }
        assert_eq!(ProcessStat::read("12 (git) S 1 77"), None);
        assert_eq!(ProcessStat::read(""), None);
        let io = "rchar: 10\nwchar: 5\nsyscr: 9\nread_bytes: 4096\nwrite_bytes: 1\ncancelled_write_bytes: 7\n";
        assert_eq!(bytes_of(io), 4_112);
    }
}
