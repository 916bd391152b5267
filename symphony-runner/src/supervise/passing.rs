//! Faults of the database that pass, and how long to wait for that.

use std::time::Duration;

use symphony_store::StoreError;

/// How long to wait for a full disk, or a server that is away. Meanwhile no other run can start on the issue.
pub(super) const DISK_WAIT_MAX: Duration = Duration::from_hours(1);
/// Time between two tries.
pub(super) const DISK_LOOK: Duration = Duration::from_secs(1);

/// Returns whether a write failed for a reason outside of it that will pass.
pub(super) const fn is_passing(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::DiskFull(_) | StoreError::Unreachable(_) | StoreError::Unknown(_)
    )
}
