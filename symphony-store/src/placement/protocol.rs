//! What the control requires of workers: only those that speak its protocol begin a run.

use symphony_core::Timestamp;
use symphony_core::placement::PROTOCOL;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

impl Store {
    /// Requires that workers speak the protocol of this Symphony. From then on others begin nothing: each reads this in the statement that
    /// begins a run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn require_own_protocol(&mut self) -> Result<(), StoreError> {
        // Written only when it changed: each tick comes by here.
        if self.required_protocol()? == Some(PROTOCOL) {
            return Ok(());
        }
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            tx.prepare_cached(
                "INSERT INTO setting (key, value) VALUES ('worker_protocol', ?1)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![PROTOCOL.to_string()])?;
            Ok(())
        })
    }

    /// Returns the protocol that workers must speak; `None` before the first tick with a pool.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn required_protocol(&self) -> Result<Option<u32>, StoreError> {
        let found: Option<String> = self
            .conn
            .prepare_cached("SELECT value FROM setting WHERE key = 'worker_protocol'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(found.and_then(|text| text.parse().ok()))
    }
}
