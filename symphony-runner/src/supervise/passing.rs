//! Faults of the database that pass, and how long to wait for that.

use std::time::{Duration, Instant};

use symphony_store::StoreError;

use crate::error::RunnerError;

/// How long to wait for a full disk, or a server that is away. Meanwhile no other run can start on the issue.
pub(super) const DISK_WAIT_MAX: Duration = Duration::from_hours(1);
/// Time between two tries.
const DISK_LOOK: Duration = Duration::from_secs(1);

/// Time between two tries where the server has too much to do already.
const OVERTAXED_LOOK: Duration = Duration::from_secs(10);

/// Returns how long to wait before the next try.
pub(super) const fn look_in(error: &StoreError) -> Duration {
    match error {
        StoreError::Overtaxed(_) => OVERTAXED_LOOK,
        _ => DISK_LOOK,
    }
}

/// Returns whether a write failed for a reason outside of it that will pass.
pub(super) const fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::DiskFull(_) | StoreError::Overtaxed(_)) || error.is_unanswered()
}

/// Reads from the database as soon as there is space on the disk, since SQLite cannot even read without some, or its server answers.
///
/// # Errors
/// When it fails for another reason, or for an hour.
pub(super) fn when_readable<T>(
    mut read: impl FnMut() -> Result<T, RunnerError>,
) -> Result<T, RunnerError> {
    let begun = Instant::now();
    loop {
        match read() {
            Err(error) if may_pass(&error) && begun.elapsed() < DISK_WAIT_MAX => {
                tracing::warn!(%error, "the run goes on when the database can be read");
                std::thread::sleep(match &error {
                    RunnerError::Store(error) => look_in(error),
                    _ => DISK_LOOK,
                });
            }
            read => return read,
        }
    }
}

fn may_pass(error: &RunnerError) -> bool {
    error.is_disk_full() || matches!(error, RunnerError::Store(error) if is_passing(error))
}
