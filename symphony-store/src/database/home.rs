//! The host whose agents a server's database has: only there can anyone see whether they are alive.

use symphony_core::Timestamp;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;

/// The setting with the name of the host.
const KEY: &str = "host";

impl Store {
    /// Records that agents run on a host from now on, unless those of another one are still active; returns that other one's name
    /// then. Runs of a pool do not count, since their beats show any host whether they live. A file is one host's, and nothing is recorded
    /// in it.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn take_host(&mut self, now: Timestamp, host: &str) -> Result<Option<String>, StoreError> {
        if self.conn.sqlite().is_some() {
            return Ok(None);
        }
        let other = if self.host()?.as_deref() == Some(host) {
            None
        } else {
            self.take_host_over(now, host)?
        };
        if other.is_none() {
            self.home = Some(host.to_owned());
        }
        Ok(other)
    }

    fn take_host_over(&mut self, now: Timestamp, host: &str) -> Result<Option<String>, StoreError> {
        self.write(&Context::system(now), |tx| {
            let found: Option<String> = tx
                .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
                .query_row([KEY], |row| row.get(0))
                .optional()?;
            let mut live =
                tx.prepare_cached("SELECT 1 FROM run WHERE status IN ('starting', 'running') AND pool IS NULL LIMIT 1")?;
            match found {
                Some(other) if other != host && live.exists([])? => Ok(Some(other)),
                _ => {
                    tx.prepare_cached(
                        "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                    )?
                    .execute(params![KEY, host])?;
                    Ok(None)
                }
            }
        })
    }

    fn host(&self) -> Result<Option<String>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
            .query_row([KEY], |row| row.get(0))
            .optional()?)
    }
}

/// Returns the host that took the database over since this process took it for `home`; `None` for a process that took it for no host.
pub(crate) fn taken_over(
    tx: &Transaction<'_>,
    home: Option<&str>,
) -> Result<Option<String>, StoreError> {
    let Some(home) = home else { return Ok(None) };
    let found: Option<String> = tx
        .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
        .query_row([KEY], |row| row.get(0))
        .optional()?;
    Ok(found.filter(|other| other != home))
}
