//! Settings of the installation that commands change: whether dispatch is paused, when old logs were last removed, and
//! which notice was shown.

use symphony_core::Timestamp;
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::time;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

impl Store {
    /// Returns whether a person paused all dispatch.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_paused(&self) -> Result<bool, StoreError> {
        Ok(self.setting("paused")?.is_some())
    }

    /// Returns since when dispatch is paused; `None` when it is not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn paused_since(&self) -> Result<Option<Timestamp>, StoreError> {
        let Some(value) = self.setting("paused")? else {
            return Ok(None);
        };
        // The previous version did not store the time.
        let ms = value.parse().ok().filter(|ms| *ms > 1);
        Ok(Some(ms.map_or(Ok(Timestamp::UNIX_EPOCH), time)?))
    }

    /// Pauses or resumes all dispatch.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_paused(&mut self, context: &Context, paused: bool) -> Result<(), StoreError> {
        self.write(context, |tx| {
            if paused {
                // A second pause does not change the first one.
                tx.execute(
                    "INSERT INTO setting (key, value) VALUES ('paused', ?1) ON CONFLICT DO NOTHING",
                    params![context.now.as_millisecond().to_string()],
                )?;
            } else {
                tx.execute("DELETE FROM setting WHERE key = 'paused'", [])?;
            }
            append(
                tx,
                context,
                About::default(),
                &LogEvent::DispatchPaused { paused },
            )
        })
    }

    /// Records that people were shown the notice about sandboxes. Returns whether they were not before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_sandbox_notice(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let added = self
            .conn
            .prepare_cached(
                "INSERT INTO setting (key, value) VALUES ('sandbox_notice', ?1) ON CONFLICT DO NOTHING",
            )?
            .execute(params![now.as_millisecond().to_string()])?;
        Ok(added > 0)
    }

    /// Records when old logs were removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_log_clean_up(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO setting (key, value) VALUES ('last_log_clean_up', ?1)
                 ON CONFLICT (key) DO UPDATE SET value = ?1",
            )?
            .execute(params![now.as_millisecond().to_string()])?;
        Ok(())
    }

    /// Returns when old logs were last removed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_log_clean_up(&self) -> Result<Option<Timestamp>, StoreError> {
        let ms = self
            .setting("last_log_clean_up")?
            .and_then(|text| text.parse().ok());
        ms.map(time).transpose()
    }

    fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?)
    }
}
