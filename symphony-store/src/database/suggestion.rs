//! Ids that a shell offers while a person types. They are only read, and there are few of them.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection as Sqlite, OpenFlags};

use crate::database::migration::SCHEMA_VERSION;
use crate::db::{Connection, params};
use crate::error::StoreError;

/// How many ids of one kind are offered.
const SUGGESTIONS_MAX: u32 = 200;
/// How long to wait for a locked database, while a person is typing.
const BUSY_TIMEOUT: Duration = Duration::from_millis(20);

/// An id and what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The id as a person types it.
    pub id: String,
    /// A title, or something else to tell it from others.
    pub about: String,
}

/// A database that is only read, whichever version created it.
#[derive(Debug)]
pub struct Suggestions {
    conn: Connection,
}

impl Suggestions {
    /// Opens a database for reading; `None` when it has another version, since only a real command may migrate it.
    ///
    /// # Errors
    /// When the database does not exist, or cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Sqlite::open_with_flags(path, flags)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        let version: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((version == SCHEMA_VERSION).then_some(Self { conn: conn.into() }))
    }

    /// Returns issues: open ones first, then the others, each with the newest changes first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issues(&self, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        self.read(
            "SELECT id, title FROM issue WHERE id LIKE ?1 || '%'
             ORDER BY status IN ('done', 'cancelled'), updated_at DESC, number DESC LIMIT ?2",
            prefix,
        )
    }

    /// Returns pull requests, open ones first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn pull_requests(&self, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        self.read(
            "SELECT CAST(id AS TEXT), title FROM pull_request WHERE CAST(id AS TEXT) LIKE ?1 || '%'
             ORDER BY state NOT IN ('open', 'approved'), id DESC LIMIT ?2",
            prefix,
        )
    }

    /// Returns runs, live ones first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs(&self, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        self.read(
            "SELECT id, agent || coalesce(' on ' || issue, '') || ', ' || status FROM run WHERE id LIKE ?1 || '%'
             ORDER BY ended_at IS NOT NULL, started_at DESC LIMIT ?2",
            prefix,
        )
    }

    /// Returns plans, those that have not ended first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans(&self, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        self.read(
            "SELECT id, path || ', ' || status FROM plan WHERE id LIKE ?1 || '%'
             ORDER BY completed_at IS NOT NULL, started_at DESC LIMIT ?2",
            prefix,
        )
    }

    /// Returns the phases of plans that have not ended.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plan_phases(&self, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        self.read(
            "SELECT f.phase, f.status FROM plan_phase f JOIN plan p ON p.id = f.plan
             WHERE p.completed_at IS NULL AND f.phase LIKE ?1 || '%' ORDER BY p.started_at DESC, f.phase LIMIT ?2",
            prefix,
        )
    }

    fn read(&self, sql: &str, prefix: &str) -> Result<Vec<Suggestion>, StoreError> {
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map(params![prefix, SUGGESTIONS_MAX], |row| {
            Ok(Suggestion {
                id: row.get(0)?,
                about: row.get(1)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
