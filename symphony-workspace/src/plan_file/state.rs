//! State files: changed by one process at a time, replaced as a whole.
//!
//! The lock is an `flock` on the file itself, so that there is no lock file beside it. A change renames a new file over
//! the old one; whoever then gets the lock of the old file sees that the name refers to another one, and starts over.
//! So the lock that counts is always that of the file with the name.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::read::{PLAN_BYTES_MAX, open_regular, read_text, read_text_file};
use crate::error::WorkspaceError;
use crate::whole_file::{write_new, write_whole};

/// How long a change waits for others; each takes milliseconds, so that a longer wait means one that was stopped.
pub const STATE_LOCK_WAIT_MAX: Duration = Duration::from_secs(30);
/// Between two tries.
const RETRY: Duration = Duration::from_millis(2);
/// A state file holds its plan.
const STATE_BYTES_MAX: u64 = 2 * PLAN_BYTES_MAX;

/// Reads a state file; it is replaced as a whole, so that it is never seen half written.
///
/// # Errors
/// [`WorkspaceError::FileMissing`] when it is not there, [`WorkspaceError::NotAFile`], [`WorkspaceError::TooLarge`],
/// [`WorkspaceError::NotText`].
pub fn read_state_file(path: &Path) -> Result<String, WorkspaceError> {
    read_text_file(path, STATE_BYTES_MAX)
}

/// Creates a state file; returns false if something of that name exists, which is then not touched.
///
/// # Errors
/// When it cannot be written.
pub fn create_state_file(path: &Path, text: &str) -> Result<bool, WorkspaceError> {
    match write_new(path, text) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(WorkspaceError::io("write", path, source)),
    }
}

/// Overwrites a state file: for its owner. A reader sees the old text or the new one, even after a power cut.
///
/// # Errors
/// When it cannot be written.
pub fn write_state_file(path: &Path, text: &str) -> Result<(), WorkspaceError> {
    write_whole(path, text).map_err(|source| WorkspaceError::io("write", path, source))
}

/// A state file that no one else changes while this value lives.
#[derive(Debug)]
pub struct LockedStateFile {
    /// Holds the lock.
    _file: File,
    path: PathBuf,
    text: String,
}

impl LockedStateFile {
    /// Waits for the lock, takes it and reads the file. A link is followed: its target is changed.
    ///
    /// # Errors
    /// As [`read_state_file`]; [`WorkspaceError::LockTimeout`] after [`STATE_LOCK_WAIT_MAX`].
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        Self::open_within(path, STATE_LOCK_WAIT_MAX)
    }

    /// Waits at most `limit` for the others, takes the lock and reads the file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_within(path: &Path, limit: Duration) -> Result<Self, WorkspaceError> {
        let path = fs::canonicalize(path).unwrap_or_else(|_missing| path.to_owned());
        let deadline = Instant::now() + limit;
        loop {
            match attempt(open_regular(&path)?, &path)? {
                Attempt::Held(held) => return Ok(held),
                Attempt::Replaced => {}
                Attempt::Busy if Instant::now() < deadline => thread::sleep(RETRY),
                Attempt::Busy => {
                    return Err(WorkspaceError::LockTimeout {
                        path,
                        seconds: limit.as_secs(),
                    });
                }
            }
        }
    }

    /// Returns what the file says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the file, then lets others at it.
    ///
    /// # Errors
    /// When it cannot be written; it is then as before.
    pub fn replace(self, text: &str) -> Result<(), WorkspaceError> {
        write_state_file(&self.path, text)
    }
}

/// What came of one try to get the lock.
enum Attempt {
    /// It is held.
    Held(LockedStateFile),
    /// The file was replaced between opening and locking: its lock says nothing.
    Replaced,
    /// Somebody else has it.
    Busy,
}

fn attempt(file: File, path: &Path) -> Result<Attempt, WorkspaceError> {
    match file.try_lock() {
        Ok(()) if !is_named(&file, path) => Ok(Attempt::Replaced),
        Ok(()) => Ok(Attempt::Held(LockedStateFile {
            text: read_text(&file, path, STATE_BYTES_MAX)?,
            path: path.to_owned(),
            _file: file,
        })),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(source)) => Err(WorkspaceError::io("lock", path, source)),
    }
}

/// Returns whether a path refers to an open file.
fn is_named(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_on_a_file_that_was_replaced_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        assert!(create_state_file(&path, "old").unwrap());
        let opened_early = [open_regular(&path).unwrap(), open_regular(&path).unwrap()];
        let [first, second] = opened_early;
        let held = LockedStateFile::open(&path).unwrap();
        assert!(matches!(attempt(first, &path), Ok(Attempt::Busy)));
        held.replace("new").unwrap();
        // a program that another test is just starting holds every lock of this process until it runs
        let is_replaced = || {
            let second = second.try_clone().unwrap();
            matches!(attempt(second, &path), Ok(Attempt::Replaced))
        };
        let looks = std::iter::repeat_with(|| {
            thread::sleep(Duration::from_millis(10));
            is_replaced()
        });
        assert!(is_replaced() || looks.take(200).any(|is_replaced| is_replaced));
        let third = open_regular(&path).unwrap();
        assert!(matches!(attempt(third, &path), Ok(Attempt::Held(held)) if held.text() == "new"));
    }
}
