//! Waiting for space on a full disk, or for the database's server, because only the supervisor of a run knows its outcome.

use std::time::Instant;

use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{Store, StoreError};

use super::Job;
use super::passing::{DISK_WAIT_MAX, is_passing, look_in};
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
    let (begun, mut is_recorded) = (Instant::now(), false);
    loop {
        let write = write.clone();
        match store.call(move |store| write(store)).await? {
            Err(error) if is_passing(&error) && begun.elapsed() < DISK_WAIT_MAX => {
                if !is_recorded {
                    job.steps.enter_for(Step::Database, DISK_WAIT_MAX);
                    is_recorded = true;
                }
                tracing::warn!(%error, "{what} when the database can be written");
                tokio::time::sleep(look_in(&error)).await;
            }
            written => return Ok(written?),
        }
    }
}
