//! Runs that could not be prepared: they say nothing about their issue, and wait longer and longer.

use rusqlite::Connection;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;

use crate::error::StoreError;
use crate::open::Store;

/// Runs that are looked at: the wait has long stopped growing then.
const RUNS_MAX: u32 = 100;

impl Store {
    /// Returns how many of the newest runs on an issue could not be prepared, in a row; gates and runs that are not over do
    /// not count.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unprepared_in_a_row(&self, issue: &IssueId) -> Result<u32, StoreError> {
        unprepared_in_a_row(&self.conn, issue)
    }
}

pub(crate) fn unprepared_in_a_row(conn: &Connection, issue: &IssueId) -> Result<u32, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT error_class FROM run WHERE issue = ?1 AND agent <> 'gates' AND ended_at IS NOT NULL
         ORDER BY fence DESC LIMIT ?2",
    )?;
    let mut rows = statement.query(rusqlite::params![issue.as_str(), RUNS_MAX])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let class: Option<String> = row.get(0)?;
        if class.as_deref() != Some(ErrorClass::NotPrepared.name()) {
            break;
        }
        count += 1;
    }
    Ok(count)
}
