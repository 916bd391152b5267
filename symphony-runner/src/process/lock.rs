//! The lock of a run: while it is held, the run is alive (reliability, decision 5).
//!
//! A `flock` belongs to the open file, not to a process. The process that claims a run locks the file, and hands the
//! open file to the supervisor as its standard input, so the lock is never free in between. The supervisor moves it at
//! once to a descriptor that its own children do not inherit.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use symphony_core::tick::LockState;

use super::error::ProcessError;
use super::system;

/// A pipe in place of the lock file would block whoever opens it until its other end is opened, which may be never.
pub(crate) const WITHOUT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// How often a held lock is tried. A process that is being started may have a copy until its exec.
const LOCK_TRIES_MAX: u32 = 20;

/// How long to wait for processes that hold the lock only for an instant to check it ([`lock_state`]): far longer than
/// a busy machine takes to run them.
const LOOKS_TIME_MAX: Duration = Duration::from_secs(10);

/// Time between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// A held lock. It is released when this value and everything made from it are gone, at the latest with the process.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// Locks the file, and creates it (empty, mode 0600) if it does not exist.
    ///
    /// # Errors
    /// `LockHeld` when another process holds it, `Lock` when it cannot be created or locked.
    pub fn acquire(path: impl Into<PathBuf>) -> Result<Self, ProcessError> {
        let path = path.into();
        let failed = |source| ProcessError::Lock {
            path: path.clone(),
            source,
        };
        let (begun, mut tries) = (Instant::now(), 0);
        while tries < LOCK_TRIES_MAX && begun.elapsed() < LOOKS_TIME_MAX {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(WITHOUT_WAITING)
                .open(&path)
                .map_err(failed)?;
            refuse_no_file(&file).map_err(failed)?;
            match file.try_lock() {
                // A file that was replaced meanwhile protects nothing, so the next try takes the new one.
                Ok(()) if is_same_file(&file, &path).map_err(failed)? => {
                    return Ok(Self { file, path });
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    // A process that only checks the lock holds it shared.
                    if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
                        tries += 1;
                    }
                    drop(file);
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(ProcessError::LockHeld { path })
    }

    /// Takes over the lock that was handed to this process as its standard input, which becomes `/dev/null`. Must be
    /// called before anything reads the input or starts a process.
    ///
    /// # Errors
    /// `LockNotHandedOver` when the input is another file, `LockHeld` when the input does not hold the lock but another
    /// process does, `Lock` when the system refuses.
    pub fn adopt_stdin(path: impl Into<PathBuf>) -> Result<Self, ProcessError> {
        let path = path.into();
        let failed = |source| ProcessError::Lock {
            path: path.clone(),
            source,
        };
        let file = File::from(system::move_stdin().map_err(failed)?);
        if !is_same_file(&file, &path).map_err(failed)? {
            return Err(ProcessError::LockNotHandedOver { path });
        }
        // The input shares its open file with the process that took the lock, so it still holds it. Otherwise, a
        // supervisor that was started by hand would work beside the real one.
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => Err(ProcessError::LockHeld { path }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Returns the locked file, in which its holder records its steps. The lock is held until this file is closed, too.
    ///
    /// # Errors
    /// `Lock` when the system has no descriptor left.
    pub fn open_file(&self) -> Result<File, ProcessError> {
        self.file.try_clone().map_err(|source| ProcessError::Lock {
            path: self.path.clone(),
            source,
        })
    }

    /// Returns the path of the lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Turns the lock into a child's standard input. Then the child holds it.
    pub fn into_stdio(self) -> Stdio {
        Stdio::from(self.file)
    }
}

/// Opens a regular file for reading. A pipe in its place is refused, not waited for.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(WITHOUT_WAITING)
        .open(path)?;
    refuse_no_file(&file)?;
    Ok(file)
}

/// Refuses anything but a regular file: its lock would not count, and its contents might never end.
pub(crate) fn refuse_no_file(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::other(
        "it is not a regular file (perhaps a pipe): remove it",
    ))
}

/// Returns whether another process holds the lock of this file. It takes the lock for an instant, shared, so that
/// several processes may check at the same time.
///
/// # Errors
/// `Lock` when the file cannot be opened or checked.
pub fn lock_state(path: &Path) -> Result<LockState, ProcessError> {
    let failed = |source| ProcessError::Lock {
        path: path.to_owned(),
        source,
    };
    let file = match open_without_waiting(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LockState::Missing),
        Err(source) => return Err(failed(source)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(LockState::Free),
        Err(TryLockError::WouldBlock) => Ok(LockState::Held),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn is_same_file(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match path.metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_and_dies_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        assert_eq!(lock_state(&path).unwrap(), LockState::Missing);
        let lock = RunLock::acquire(&path).unwrap();
        assert_eq!(lock_state(&path).unwrap(), LockState::Held);
        let error = RunLock::acquire(&path).unwrap_err();
        assert!(matches!(error, ProcessError::LockHeld { .. }), "{error}");
        drop(lock);
        // Not at once: a child of another test has a copy until its exec.
        while lock_state(&path).unwrap() == LockState::Held {
            std::thread::sleep(LOCK_PAUSE);
        }
        let again = RunLock::acquire(&path).unwrap();
        assert_eq!(again.path(), path);
    }

    #[test]
    fn who_looks_at_a_lock_keeps_nobody_from_taking_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let looks = File::create(&path).unwrap();
        looks.try_lock_shared().unwrap();
        assert_eq!(lock_state(&path).unwrap(), LockState::Free);
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| RunLock::acquire(&path));
            // Longer than any process that holds the lock is waited for.
            std::thread::sleep(LOCK_PAUSE * (LOCK_TRIES_MAX + 5));
            drop(looks);
            assert!(taken.join().unwrap().is_ok());
        });
    }

    #[test]
    fn a_removed_file_protects_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let old = RunLock::acquire(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let new = RunLock::acquire(&path).unwrap();
        assert!(!is_same_file(&old.file, &path).unwrap());
        assert!(is_same_file(&new.file, &path).unwrap());
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let error = RunLock::acquire("/no/such/folder/run.lock").unwrap_err();
        assert_eq!(error.to_string(), "cannot lock /no/such/folder/run.lock");
        assert!(std::error::Error::source(&error).is_some());
    }
}
