//! One change at a time: the repository's lock across processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::open::Repository;
use crate::error::WorkspaceError;

/// How long a change waits for others: a few checkouts of a large repository.
const WAIT_MAX: Duration = Duration::from_mins(10);
/// Between two tries.
const RETRY: Duration = Duration::from_millis(10);

/// The held lock; dropping it frees it, and so does the end of the process.
///
/// Parallel `git worktree` calls corrupt each other's administration, so adding, removing, pruning
/// and merging take this lock. It is an `flock` on `<git folder>/symphony.lock`, close-on-exec, so
/// that no git process inherits it.
#[derive(Debug)]
pub struct RepositoryLock {
    _file: File,
}

impl Repository {
    /// Waits for the repository's lock and takes it.
    ///
    /// # Errors
    /// [`WorkspaceError::LockTimeout`] after ten minutes.
    pub fn lock(&self) -> Result<RepositoryLock, WorkspaceError> {
        self.lock_within(WAIT_MAX)
    }

    /// Waits at most `limit` for the repository's lock and takes it.
    ///
    /// # Errors
    /// [`WorkspaceError::LockTimeout`] when another process keeps it.
    pub fn lock_within(&self, limit: Duration) -> Result<RepositoryLock, WorkspaceError> {
        let path = self.lock_path();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| WorkspaceError::io("open the lock", &path, source))?;
        let deadline = Instant::now() + limit;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(RepositoryLock { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(RETRY),
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::LockTimeout {
                        path,
                        seconds: limit.as_secs(),
                    });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(WorkspaceError::io("lock", &path, source));
                }
            }
        }
    }

    fn lock_path(&self) -> PathBuf {
        self.common_dir().join("symphony.lock")
    }
}
