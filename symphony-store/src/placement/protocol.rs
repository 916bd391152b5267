//! What the control requires of workers: only those that speak its protocol begin a run, and each ends its agents before the control would give
//! their runs to others.

use symphony_core::Timestamp;
use symphony_core::placement::{Lease, PROTOCOL};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// The protocol that workers must speak. The statement that begins a run reads it.
const SPOKEN: &str = "worker_protocol";
/// The control's `lease.dead_ms`.
const DEAD_MS: &str = "worker_dead_ms";

impl Store {
    /// Requires that workers speak the protocol of this Symphony, and fit the lease of the control. From then on others begin nothing: each
    /// reads the protocol in the statement that begins a run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn require_of_workers(&mut self, lease: Lease) -> Result<(), StoreError> {
        let required = [
            (SPOKEN, PROTOCOL.to_string()),
            (DEAD_MS, lease.dead_ms().to_string()),
        ];
        // Written only when it changed: each tick comes by here.
        if self.required_protocol()? == Some(PROTOCOL)
            && self.required_dead_ms()? == Some(lease.dead_ms())
        {
            return Ok(());
        }
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            for (key, value) in &required {
                tx.prepare_cached(
                    "INSERT INTO setting (key, value) VALUES (?1, ?2)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                )?
                .execute(params![key, value])?;
            }
            Ok(())
        })
    }

    /// Returns the protocol that workers must speak; `None` before the first tick with a pool.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn required_protocol(&self) -> Result<Option<u32>, StoreError> {
        Ok(self.required(SPOKEN)?.and_then(|text| text.parse().ok()))
    }

    /// Returns the control's `lease.dead_ms`; `None` before the first tick with a pool.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn required_dead_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.required(DEAD_MS)?.and_then(|text| text.parse().ok()))
    }

    fn required(&self, key: &str) -> Result<Option<String>, StoreError> {
        let found = self
            .conn
            .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?;
        Ok(found)
    }
}
