//! What a tracker refused for good: counted for the inbox, sent again or forgotten when a person says so.

use symphony_core::Timestamp;

use super::record::TrackerId;
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::time;
use crate::db::params;
use crate::error::StoreError;

/// The changes that a tracker refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedChanges {
    /// How many.
    pub count: u64,
    /// When the first one was refused.
    pub since: Timestamp,
    /// The tracker's words about the last one.
    pub last: String,
}

impl Store {
    /// Returns how many changes a tracker refused, since when, and its words about the last one; `None` if it refused none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn refused_changes(
        &self,
        tracker: TrackerId,
    ) -> Result<Option<RefusedChanges>, StoreError> {
        let (count, since): (i64, Option<i64>) = self
            .conn
            .prepare_cached(
                "SELECT count(*), min(c.ended_at) FROM tracker_change c JOIN tracker_link l ON l.id = c.link
                 WHERE l.tracker = ?1 AND c.state = 'refused'",
            )?
            .query_row([tracker.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Some(since) = since else {
            return Ok(None);
        };
        let last: Option<String> = self
            .conn
            .prepare_cached(
                "SELECT c.problem FROM tracker_change c JOIN tracker_link l ON l.id = c.link
                 WHERE l.tracker = ?1 AND c.state = 'refused' ORDER BY c.ended_at DESC, c.number DESC LIMIT 1",
            )?
            .query_row([tracker.0], |row| row.get(0))?;
        Ok(Some(RefusedChanges {
            count: u64::try_from(count).unwrap_or(0),
            since: time(since)?,
            last: last.unwrap_or_default(),
        }))
    }

    /// Returns how many changes wait to be sent to a tracker.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_count(&self, tracker: TrackerId) -> Result<u64, StoreError> {
        let count: i64 = self
            .conn
            .prepare_cached(
                "SELECT count(*) FROM tracker_change c JOIN tracker_link l ON l.id = c.link
                 WHERE l.tracker = ?1 AND c.state = 'waiting'",
            )?
            .query_row([tracker.0], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Forgets the refused changes of a tracker: they are not sent again, and the inbox names them no longer.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_refused(
        &mut self,
        context: &Context,
        tracker: TrackerId,
    ) -> Result<usize, StoreError> {
        self.write(context, |tx| {
            Ok(tx.execute(
                "UPDATE tracker_change SET state = 'withdrawn'
                 WHERE state = 'refused' AND link IN (SELECT id FROM tracker_link WHERE tracker = ?1)",
                [tracker.0],
            )?)
        })
    }

    /// Sends refused changes of a tracker again; returns how many.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn retry_refused(
        &mut self,
        context: &Context,
        tracker: TrackerId,
    ) -> Result<usize, StoreError> {
        self.write(context, |tx| {
            Ok(tx.execute(
                "UPDATE tracker_change SET state = 'waiting', ended_at = NULL, tries = 0, due_at = ?2
                 WHERE state = 'refused' AND link IN (SELECT id FROM tracker_link WHERE tracker = ?1)",
                params![tracker.0, context.now.as_millisecond()],
            )?)
        })
    }
}
