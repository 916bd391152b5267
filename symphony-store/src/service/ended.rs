//! Attempts that ended: the newest one by one, and the sums of all.

use symphony_core::Timestamp;
use symphony_core::id::RunId;

use crate::database::open::Store;
use crate::database::row::{count, count32, int, parsed, time};
use crate::db::{Transaction, params};
use crate::error::StoreError;

/// Attempts that are listed. Their logs are kept as long as they are; the sums count all.
pub const SERVICE_ENDED_MAX: u32 = 200;

/// An attempt that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceEnded {
    /// Its worker.
    pub worker: RunId,
    /// The tracker's id of its ticket.
    pub ticket: String,
    /// What people call the ticket.
    pub identifier: String,
    /// Which attempt it was; absent for the first.
    pub attempt: Option<u32>,
    /// When it began.
    pub started_at: Timestamp,
    /// When its end was seen.
    pub ended_at: Timestamp,
    /// How it ended, in one word.
    pub outcome: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Its last session.
    pub session: Option<String>,
    /// Turns that it began.
    pub turns: u32,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// The limits of rates that it reported last, as JSON; only the newest of all attempts are kept.
    pub rate_limits: Option<String>,
}

/// What all attempts that ended used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceTotals {
    /// How many there were.
    pub attempts: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// How long they took together, in milliseconds.
    pub ms: u64,
    /// The limits of rates that were reported last, as JSON.
    pub rate_limits: Option<String>,
}

pub(super) fn keep_ended(tx: &Transaction<'_>, ended: &ServiceEnded) -> Result<(), StoreError> {
    tx.prepare_cached(
        "INSERT INTO service_ended (worker, ticket, identifier, attempt, started_at, ended_at, outcome, error, session, turns,
             input_tokens, output_tokens, total_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        ended.worker.as_str(),
        ended.ticket,
        ended.identifier,
        ended.attempt,
        ended.started_at.as_millisecond(),
        ended.ended_at.as_millisecond(),
        ended.outcome,
        ended.error,
        ended.session,
        ended.turns,
        int(ended.input_tokens),
        int(ended.output_tokens),
        int(ended.total_tokens),
    ])?;
    // a clock that was set back makes no attempt negative
    let ms = ended
        .ended_at
        .as_millisecond()
        .saturating_sub(ended.started_at.as_millisecond())
        .max(0);
    tx.prepare_cached(
        "UPDATE service_total SET attempts = attempts + 1, input_tokens = input_tokens + ?1,
             output_tokens = output_tokens + ?2, total_tokens = total_tokens + ?3, ms = ms + ?4,
             rate_limits = coalesce(?5, rate_limits)",
    )?
    .execute(params![
        int(ended.input_tokens),
        int(ended.output_tokens),
        int(ended.total_tokens),
        ms,
        ended.rate_limits,
    ])?;
    tx.execute(
        "DELETE FROM service_ended WHERE number <= (SELECT max(number) FROM service_ended) - ?1",
        [SERVICE_ENDED_MAX],
    )?;
    Ok(())
}

impl Store {
    /// Lists the attempts that ended last, the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn service_ended(&self) -> Result<Vec<ServiceEnded>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM service_ended ORDER BY number DESC")?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(ServiceEnded {
                worker: parsed("worker", row.get("worker")?)?,
                ticket: row.get("ticket")?,
                identifier: row.get("identifier")?,
                attempt: row.get("attempt")?,
                started_at: time(row.get("started_at")?)?,
                ended_at: time(row.get("ended_at")?)?,
                outcome: row.get("outcome")?,
                error: row.get("error")?,
                session: row.get("session")?,
                turns: count32(row, "turns")?,
                input_tokens: count(row, "input_tokens")?,
                output_tokens: count(row, "output_tokens")?,
                total_tokens: count(row, "total_tokens")?,
                rate_limits: None,
            });
        }
        Ok(found)
    }

    /// Returns what all attempts that ended used.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn service_totals(&self) -> Result<ServiceTotals, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT * FROM service_total")?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else {
            return Ok(ServiceTotals::default());
        };
        Ok(ServiceTotals {
            attempts: count(&row, "attempts")?,
            input_tokens: count(&row, "input_tokens")?,
            output_tokens: count(&row, "output_tokens")?,
            total_tokens: count(&row, "total_tokens")?,
            ms: count(&row, "ms")?,
            rate_limits: row.get("rate_limits")?,
        })
    }
}
