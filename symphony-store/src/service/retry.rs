//! Tickets whose next attempt has a time.

use symphony_core::Timestamp;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count32, time};
use crate::db::{Transaction, params};
use crate::error::StoreError;

/// A ticket whose next attempt has a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRetry {
    /// The tracker's id of the ticket.
    pub ticket: String,
    /// What people call it.
    pub identifier: String,
    /// Which attempt is next, counted from 1.
    pub attempt: u32,
    /// When it is due.
    pub due: Timestamp,
    /// Why there is another one; absent after an attempt that ended well.
    pub error: Option<String>,
}

pub(super) fn put_retry(
    tx: &Transaction<'_>,
    ticket: &str,
    retry: &ServiceRetry,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO service_retry (ticket, identifier, attempt, due_at, error)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ticket) DO UPDATE SET identifier = ?2, attempt = ?3, due_at = ?4, error = ?5",
    )?
    .execute(params![
        ticket,
        retry.identifier,
        retry.attempt,
        retry.due.as_millisecond(),
        retry.error
    ])?;
    Ok(())
}

impl Store {
    /// Lists the tickets whose next attempt has a time, the earliest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn service_retries(&self) -> Result<Vec<ServiceRetry>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM service_retry ORDER BY due_at, ticket")?;
        let mut rows = statement.query([])?;
        let mut retries = Vec::new();
        while let Some(row) = &rows.next()? {
            retries.push(ServiceRetry {
                ticket: row.get("ticket")?,
                identifier: row.get("identifier")?,
                attempt: count32(row, "attempt")?,
                due: time(row.get("due_at")?)?,
                error: row.get("error")?,
            });
        }
        Ok(retries)
    }

    /// Records when the next attempt on a ticket is due, in place of any that it has.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_service_retry(
        &mut self,
        retry: &ServiceRetry,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(&Context::system(now), |tx| {
            put_retry(tx, &retry.ticket, retry)
        })
    }

    /// Gives up the next attempt on a ticket.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_service_retry(&mut self, ticket: &str, now: Timestamp) -> Result<(), StoreError> {
        self.write(&Context::system(now), |tx| {
            tx.execute("DELETE FROM service_retry WHERE ticket = ?1", [ticket])?;
            Ok(())
        })
    }
}
