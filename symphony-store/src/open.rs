//! Opening the database.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::context::Context;
use crate::error::{StoreError, is_shared_memory_full};
use crate::migration::{SCHEMA_VERSION, migrations};

/// How long a write waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The oldest SQLite without the WAL race between two processes (reliability, decision 2).
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// Prepared statements kept: more than the store has, so that none is prepared twice.
const STATEMENTS_CACHED: usize = 200;

/// The database. One connection; a process with a runtime gives it a thread of its own.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
}

impl Store {
    /// Opens the database at a path, makes it where there is none, and brings its schema up to date.
    ///
    /// # Errors
    /// When the file can not be opened, is no database, or has a newer schema.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let conn = Connection::open(path).map_err(|error| open_error(path, error))?;
        Self::prepare(conn, path)
    }

    /// Opens an existing database; does not make one.
    ///
    /// # Errors
    /// As [`Store::open`], and when there is no file.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn =
            Connection::open_with_flags(path, flags).map_err(|error| open_error(path, error))?;
        Self::prepare(conn, path)
    }

    /// Makes a database in memory, for tests and rehearsals.
    ///
    /// # Errors
    /// When SQLite can not be set up.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        Self::prepare(Connection::open_in_memory()?, Path::new(":memory:"))
    }

    fn prepare(mut conn: Connection, path: &Path) -> Result<Self, StoreError> {
        if rusqlite::version_number() < SQLITE_VERSION_MIN {
            let reason = format!(
                "SQLite {} is too old; 3.51.3 or newer is needed",
                rusqlite::version()
            );
            return Err(StoreError::Open {
                path: path.to_owned(),
                reason,
            });
        }
        conn.busy_timeout(BUSY_TIMEOUT)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        let found: i64 = conn
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| open_error(path, error))?;
        if found > SCHEMA_VERSION {
            return Err(StoreError::NewerSchema {
                path: path.to_owned(),
                found,
                known: SCHEMA_VERSION,
            });
        }
        conn.pragma_update(None, "journal_mode", "WAL")
            .map_err(|error| match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseCorrupt) => open_error(path, error),
                _ => error.into(),
            })?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        if found < SCHEMA_VERSION {
            migrations()
                .to_latest(&mut conn)
                .map_err(|error| StoreError::Open {
                    path: path.to_owned(),
                    reason: format!("its schema can not be brought up to date: {error}"),
                })?;
        }
        Ok(Self { conn })
    }

    /// Runs one write: a transaction that holds the write lock from its start, after the writer's fence was checked.
    pub(crate) fn write<T>(
        &mut self,
        context: &Context,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Err(error) = context.check(&tx) {
            context.record_refusal(&tx)?;
            tx.commit()?;
            return Err(error);
        }
        let value = work(&tx)?;
        tx.commit()?;
        Ok(value)
    }

    /// Runs several reads on one state of the database.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let tx = self
            .conn
            .transaction_with_behavior(TransactionBehavior::Deferred)?;
        work(&tx)
    }
}

fn open_error(path: &Path, error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let reason = match error.sqlite_error_code() {
        // SQLite needs a little space beside the database for reading, too
        Some(ErrorCode::DiskFull) => return error.into(),
        _ if is_shared_memory_full(&error) => return error.into(),
        Some(ErrorCode::NotADatabase) => {
            return StoreError::NotADatabase {
                path: path.to_owned(),
                reason: "it is not a SQLite database: it is damaged, or another file",
            };
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            return StoreError::NotADatabase {
                path: path.to_owned(),
                reason: "it is damaged",
            };
        }
        Some(ErrorCode::CannotOpen) => {
            "there is no such file, or it may not be read and written".to_owned()
        }
        _ => error.to_string(),
    };
    StoreError::Open {
        path: path.to_owned(),
        reason,
    }
}

impl Store {
    /// Returns journal mode and `synchronous` level (2 is FULL), as SQLite reports them.
    ///
    /// # Errors
    /// When the database can not be asked.
    pub fn durability(&self) -> Result<(String, i64), StoreError> {
        let mode = self
            .conn
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        let level = self
            .conn
            .query_row("PRAGMA synchronous", [], |row| row.get(0))?;
        Ok((mode, level))
    }

    /// Lets the database grow by so many pages more and refuses what does not fit, as a full disk does; none lifts the
    /// limit. For rehearsals of a full disk; it holds for this connection.
    ///
    /// # Errors
    /// When the database can not be asked for its size.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        let size: i64 = self
            .conn
            .query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let limit = pages.map_or(i64::from(u32::MAX - 1), |pages| size + i64::from(pages));
        self.conn
            .query_row(&format!("PRAGMA max_page_count = {limit}"), [], |_| Ok(()))?;
        Ok(())
    }
}
