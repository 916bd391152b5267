//! The repository's lock across processes, so that there is one change at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;

use super::open::{Discovered, Repository, discover};
use crate::error::WorkspaceError;
use crate::git::{Place, note_shared_locks};

/// How long a change waits for others: a few checkouts of a large repository.
const WAIT_MAX: Duration = Duration::from_mins(10);
/// Time between two tries.
const RETRY: Duration = Duration::from_millis(10);

/// The held lock. It is released when it is dropped, or when the process ends.
///
/// Parallel `git worktree` calls corrupt each other's administration, so adding, removing, pruning and merging take
/// this lock. It is an `flock` on `<git folder>/symphony.lock`, close-on-exec, so that no git process inherits it. The
/// file has the time at which the lock was taken: after a death, the next process that takes it notes the locks that a
/// git of the dead one may have left.
#[derive(Debug)]
pub struct RepositoryLock {
    file: File,
}

impl RepositoryLock {
    /// Records when the lock was taken. Returns the time that a dead process left there.
    fn begin(&self) -> Option<Timestamp> {
        let mut text = [0; MOMENT_BYTES_MAX];
        let length = self.file.read_at(&mut text, 0).unwrap_or_default();
        let text = String::from_utf8_lossy(text.get(..length).unwrap_or_default()).into_owned();
        let earlier = text.lines().next().and_then(|line| line.parse().ok());
        let line = format!("{}\n", Timestamp::now());
        // On a full disk, the lock is held nevertheless.
        if let Err(error) = self.file.write_all_at(line.as_bytes(), 0) {
            tracing::debug!(%error, "the start of the repository's lock was not recorded");
        }
        earlier
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "the end of the repository's lock was not recorded");
        }
    }
}

/// More than the length of a time in the lock file.
const MOMENT_BYTES_MAX: usize = 64;

impl Repository {
    /// Waits for the repository's lock and takes it.
    ///
    /// # Errors
    /// [`WorkspaceError::LockTimeout`] after ten minutes.
    pub fn lock(&self) -> Result<RepositoryLock, WorkspaceError> {
        self.lock_within(WAIT_MAX)
    }

    /// Waits at most `limit` for the repository's lock and takes it. It then removes registrations that a dead git left
    /// half written, and old locks that no other step would find.
    ///
    /// # Errors
    /// [`WorkspaceError::LockTimeout`] when another process holds it.
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
                Ok(()) => {
                    let lock = RepositoryLock { file };
                    if let Some(since) = lock.begin() {
                        note_shared_locks(self.git.place(), since);
                    }
                    // Only under the lock: without it, a registration that another process is just writing would look
                    // like one that was cut off.
                    self.clear_cut_off()?;
                    // A lock that someone has taken meanwhile is no reason to stop.
                    if let Err(error) = self.clear_old_locks() {
                        tracing::debug!(%error, "locks that a dead git process left were not removed");
                    }
                    return Ok(lock);
                }
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

    /// Notes the locks that a person's git also takes and that appeared since a run or a merge started. One that a dead
    /// git left is removed once it is ten minutes old and no process has it open. Starts no program.
    ///
    /// # Errors
    /// As [`discover`].
    pub fn note_locks_since(project: &Path, since: Timestamp) -> Result<(), WorkspaceError> {
        let Discovered { root, common_dir } = discover(project)?;
        let place = Place {
            git_dir: common_dir.clone(),
            common_dir,
            work_tree: root,
        };
        note_shared_locks(&place, since);
        Ok(())
    }

    fn lock_path(&self) -> PathBuf {
        self.common_dir().join("symphony.lock")
    }
}
