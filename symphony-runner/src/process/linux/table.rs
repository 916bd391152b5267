//! The table of processes, as `/proc` shows it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use super::control::boot_ms;
use super::stat::parse_stat;
use crate::process::error::ProcessError;
use crate::process::record::ProcessRecord;

/// How many bytes of an environment are searched. The kernel limits arguments and environment of a program to 6 MiB
/// together.
const ENVIRONMENT_BYTES_MAX: u64 = 6 * 1024 * 1024;

/// Clock ticks per second in `/proc`, the same on every machine that Rust's standard library supports.
const TICKS_A_SECOND: u64 = 100;
/// How many open files of one process are read.
const OPEN_FILES_MAX: usize = 4_096;

/// Returns the id of this boot of the machine.
pub(in crate::process) fn boot_id() -> Result<&'static str, ProcessError> {
    static BOOT_ID: OnceLock<String> = OnceLock::new();
    if let Some(id) = BOOT_ID.get() {
        return Ok(id);
    }
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    Ok(BOOT_ID.get_or_init(|| text.trim().to_owned()))
}

/// Reads the record of one process; `None` when there is no process with this pid.
pub(in crate::process) fn read_record(pid: i32) -> Result<Option<ProcessRecord>, ProcessError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    match fs::read(&path) {
        Ok(line) => Ok(parse_stat(&line)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(source) => Err(unreadable(&path, source)),
    }
}

/// Reads the whole table, ordered by pid.
pub(in crate::process) fn read_records() -> Result<Vec<ProcessRecord>, ProcessError> {
    let path = Path::new("/proc");
    let mut records = Vec::new();
    for entry in fs::read_dir(path).map_err(|source| unreadable(path, source))? {
        let entry = entry.map_err(|source| unreadable(path, source))?;
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        records.extend(read_record(pid)?);
    }
    records.sort_unstable_by_key(|record| record.pid);
    Ok(records)
}

/// Lists the children of all threads of a process; `None` when this kernel does not list them (it was built without
/// `CONFIG_PROC_CHILDREN`). The list may miss a child that is just being started. To be certain, read the table.
pub(in crate::process) fn children(pid: i32) -> Result<Option<Vec<i32>>, ProcessError> {
    static IS_TOLD: OnceLock<bool> = OnceLock::new();
    if !*IS_TOLD.get_or_init(|| Path::new("/proc/thread-self/children").exists()) {
        return Ok(None);
    }
    let path = PathBuf::from(format!("/proc/{pid}/task"));
    let threads = match fs::read_dir(&path) {
        Ok(threads) => threads,
        Err(error) if is_gone(&error) => return Ok(Some(Vec::new())),
        Err(source) => return Err(unreadable(&path, source)),
    };
    let mut children = Vec::new();
    for thread in threads {
        let thread = match thread {
            Ok(thread) => thread.path().join("children"),
            Err(error) if is_gone(&error) => continue,
            Err(source) => return Err(unreadable(&path, source)),
        };
        match fs::read_to_string(&thread) {
            Ok(text) => children.extend(
                text.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse::<i32>().ok()),
            ),
            Err(error) if is_gone(&error) => {}
            Err(source) => return Err(unreadable(&thread, source)),
        }
    }
    Ok(Some(children))
}

/// Returns the pid that was given out last, to a process or thread. Pids rise, and start again at their limit.
pub(in crate::process) fn last_pid() -> Result<i32, ProcessError> {
    let path = Path::new("/proc/loadavg");
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    text.split_ascii_whitespace()
        .last()
        .and_then(|pid| pid.parse().ok())
        .ok_or_else(|| unreadable(path, io::ErrorKind::InvalidData.into()))
}

/// Returns whether a process runs as the user of this one.
pub(in crate::process) fn belongs_to_user(pid: i32) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == user)
}

/// Returns the user who started a process, whatever rights its program has; `None` when there is no such process. It is
/// read from the status, since root owns the folder of a process that cannot be dumped.
pub(in crate::process) fn real_user(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns whether a process was started with exactly this `NAME=value` in its environment; false when that may not be
/// read (another user's, or a protected program's).
pub(in crate::process) fn has_environment_entry(pid: i32, entry: &str) -> bool {
    environment(pid)
        .split(|&byte| byte == 0)
        .any(|found| found == entry.as_bytes())
}

/// Returns the value of a variable that a process was started with; `None` also when it may not be read.
pub(in crate::process) fn environment_value(pid: i32, name: &str) -> Option<String> {
    environment(pid)
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
        .map(|value| String::from_utf8_lossy(value).into_owned())
}

/// Returns the arguments that a process was started with; empty when they may not be read.
pub(in crate::process) fn command_line(pid: i32) -> Vec<OsString> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes
        .split(|byte| *byte == 0)
        .map(|argument| OsString::from_vec(argument.to_vec()))
        .collect()
}

/// Returns how long ago a process started.
#[expect(clippy::unnecessary_wraps, reason = "other systems do not say")]
pub(in crate::process) fn age(record: &ProcessRecord) -> Option<Duration> {
    // the clock in which the kernel notes when a process starts
    let uptime = Duration::from_millis(boot_ms());
    let started = Duration::from_millis(record.start_time.saturating_mul(1000 / TICKS_A_SECOND));
    Some(uptime.saturating_sub(started))
}

/// Returns the working directory of a process; `None` when it may not be read.
pub(in crate::process) fn working_directory(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Returns whether a process is in a PID namespace inside this one's. It is read from what every user may see, so that
/// a process cannot hide it.
pub(in crate::process) fn is_in_inner_namespace(pid: i32) -> bool {
    let depth = |pid: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let numbers = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))?;
        Some(numbers.split_ascii_whitespace().count())
    };
    match (depth(&pid.to_string()), depth("self")) {
        (Some(theirs), Some(own)) => theirs > own,
        _ => false,
    }
}

/// Lists the paths of a process's open files; empty when they may not be read.
pub(in crate::process) fn open_files(pid: i32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let links = entries.flatten().take(OPEN_FILES_MAX);
    links
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .collect()
}

/// Whether a process holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum LockUse {
    /// It holds it.
    Held,
    /// It does not hold it.
    NotHeld,
    /// This user may not read the open files of the process.
    Unknown,
}

/// Returns whether a process holds the `flock` of a file, from its open files. Each of them shows its locks, whichever
/// process took them.
pub(in crate::process) fn lock_use(pid: i32, file: &fs::Metadata) -> LockUse {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return LockUse::Unknown;
    };
    for entry in entries.flatten() {
        let is_file = fs::metadata(entry.path())
            .is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()));
        let shown = || {
            let name = entry.file_name();
            let path = format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy());
            fs::read_to_string(path).unwrap_or_default()
        };
        if is_file && shown().lines().any(is_exclusive_flock) {
            return LockUse::Held;
        }
    }
    LockUse::NotHeld
}

/// Parses a line of `/proc/PID/fdinfo/N`: `lock:  1: FLOCK  ADVISORY  WRITE 42 00:1f:12345 0 EOF`.
fn is_exclusive_flock(line: &str) -> bool {
    line.strip_prefix("lock:").is_some_and(|lock| {
        let mut words = lock.split_ascii_whitespace();
        words.any(|word| word == "FLOCK") && words.any(|word| word == "WRITE")
    })
}

/// Reads the environment that a process was started with; empty when it may not be read.
fn environment(pid: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(format!("/proc/{pid}/environ"))
        .and_then(|file| file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut bytes));
    // Reading from a process that is ending gives an error, or less.
    if read.is_err() {
        bytes.clear();
    }
    bytes
}

/// Lists the standard signals that this process ignores, by number. Real-time signals are left out, since the C library
/// itself ignores two of them in the programs that it starts.
pub(in crate::process) fn ignored_signals() -> Result<Vec<i32>, ProcessError> {
    let path = Path::new("/proc/self/status");
    let status = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    Ok((1..=31)
        .filter(|number| mask & (1 << (number - 1)) != 0)
        .collect())
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn unreadable(path: &Path, source: io::Error) -> ProcessError {
    ProcessError::Table {
        path: path.to_owned(),
        source,
    }
}
