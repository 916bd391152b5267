//! The lock of a run's row.

use symphony_core::id::RunId;

use crate::db::Transaction;
#[cfg(feature = "postgres")]
use crate::db::params;
use crate::error::StoreError;

/// On a server. No one can change the run until the transaction ends; rows that refer to it can be added.
#[cfg(feature = "postgres")]
const LOCK: &str = "SELECT 1 FROM run WHERE id = ?1 FOR NO KEY UPDATE";

/// Locks the row of a run until the transaction ends. A file has one writer at a time.
#[cfg_attr(
    not(feature = "postgres"),
    expect(clippy::unnecessary_wraps, reason = "a file has no rows to lock")
)]
pub(crate) fn lock_row(tx: &Transaction<'_>, run: &RunId) -> Result<(), StoreError> {
    #[cfg(feature = "postgres")]
    if tx.sqlite().is_none() {
        tx.prepare_cached(LOCK)?.execute(params![run.as_str()])?;
    }
    let _ = (tx, run);
    Ok(())
}
