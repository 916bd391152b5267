//! Waiting for space on a full disk, or for the database's server, because only the supervisor of a run knows its outcome.

use std::time::Instant;

use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{Store, StoreError};

use super::Job;
use super::passing::{DISK_LOOK, DISK_WAIT_MAX, is_passing};
use crate::error::RunnerError;

/// Writes to the database as soon as there is space on the disk, and its server answers. `what` completes "… when the database can be
/// written" in the log. Repeating the write must change nothing: without the server's answer it may have been stored.
///
/// # Errors
/// When it cannot be written for another reason, or not within an hour.
pub(super) async fn when_there_is_space<T: Send + 'static>(
    job: &Job<'_>,
    store: &StoreThread,
    what: &'static str,
    write: impl Fn(&mut Store) -> Result<T, StoreError> + Clone + Send + 'static,
) -> Result<T, RunnerError> {
    let begun = Instant::now();
    loop {
        let write = write.clone();
        match store.call(move |store| write(store)).await? {
            Err(error) if is_passing(&error) && begun.elapsed() < DISK_WAIT_MAX => {
                if matches!(error, StoreError::DiskFull(_)) && begun.elapsed() < DISK_LOOK {
                    job.steps.enter_for(Step::FullDisk, DISK_WAIT_MAX);
                }
                tracing::warn!(%error, "{what} when the database can be written");
                tokio::time::sleep(DISK_LOOK).await;
            }
            written => return Ok(written?),
        }
    }
}
