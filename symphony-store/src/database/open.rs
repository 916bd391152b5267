//! Opening the database.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection as Sqlite, OpenFlags};
use symphony_core::id::RunId;

use crate::database::context::Context;
use crate::database::migration::{SCHEMA_VERSION, migrate};
use crate::database::run_lock::lock_row;
use crate::database::unwritable::unwritable_files;
use crate::db::{Connection, DbError, Fault, Purpose, READS_MAX, Transaction, sqlite_fault};
use crate::error::StoreError;

/// How long a write waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The oldest SQLite without the WAL race between two processes (reliability, decision 2).
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// How many prepared statements are kept: more than the store has, so that none is prepared twice.
const STATEMENTS_CACHED: usize = 200;

/// How often a write begins again on a server before it is given up.
const TRIES_MAX: u32 = 100;
/// For how long it does.
const TRIES_FOR: Duration = Duration::from_secs(30);

/// What to do with a file that has no schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    /// Turn it into a database.
    Fill,
    /// Report an error: a database that was cut off must not become an empty one.
    Refuse,
}

/// The database. It has one connection, and a process with a runtime gives it a separate thread.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    /// The host for which this process took the database of a server ([`Store::take_host`]).
    pub(crate) home: Option<String>,
}

impl Store {
    /// Opens the database at a path, creates it if it does not exist, and updates its schema.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a database of Symphony, or has a newer schema.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let conn = Sqlite::open(path).map_err(|error| open_error(path, error))?;
        Self::prepare(conn, path, Without::Fill, |_migrating| {})
    }

    /// Opens an existing database, and does not create one.
    ///
    /// # Errors
    /// As [`Store::open`], when the file does not exist, and `Empty` when it has no schema.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        Self::open_existing_with(path, |_migrating| {})
    }

    /// Opens an existing database. Calls back before its schema is changed.
    ///
    /// # Errors
    /// As [`Store::open_existing`].
    pub fn open_existing_with(
        path: &Path,
        before_migration: impl FnOnce(&Migrating<'_>),
    ) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Sqlite::open_with_flags(path, flags).map_err(|error| open_error(path, error))?;
        Self::prepare(conn, path, Without::Refuse, before_migration)
    }

    /// Creates a database in memory, for tests and rehearsals.
    ///
    /// # Errors
    /// When SQLite cannot be set up.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(store) = Self::connect_for_test()? {
            return Ok(store);
        }
        let conn = Sqlite::open_in_memory()?;
        Self::prepare(conn, Path::new(":memory:"), Without::Fill, |_migrating| {})
    }

    fn prepare(
        conn: Sqlite,
        path: &Path,
        without_schema: Without,
        before_migration: impl FnOnce(&Migrating<'_>),
    ) -> Result<Self, StoreError> {
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
        // One plan for a statement whatever its parameters are. Otherwise a statement is prepared again when they are bound, which
        // most of those with a limit were.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
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
        if found == 0 {
            require_unused(&conn, path, without_schema)?;
        }
        conn.pragma_update(None, "journal_mode", "WAL")
            .map_err(|error| match sqlite_fault(&error) {
                Fault::Damaged | Fault::NoAccess => open_error(path, error),
                _ => error.into(),
            })?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        let mut conn = Connection::from(conn);
        if found < SCHEMA_VERSION {
            if found > 0 {
                before_migration(&Migrating {
                    conn: &conn,
                    from: found,
                });
            }
            if let Some(sqlite) = conn.sqlite_mut() {
                migrate(sqlite).map_err(|error| migration_error(path, error))?;
            }
        }
        Ok(Self { conn, home: None })
    }

    /// Runs one write: a transaction that holds the write lock from its start, after the writer's fence was checked. On a server it
    /// may begin again, where another one came between.
    pub(crate) fn write<T>(
        &mut self,
        context: &Context,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.repeat(|store| store.write_once(context, None, &mut work))
    }

    /// Runs one write that finds and locks the rows itself that it depends on. It is stored once, also where its answer is lost.
    pub(crate) fn write_locking<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.repeat(|store| {
            let tx = store.conn.begin(Purpose::Locking)?;
            let value = work(&tx)?;
            tx.commit()?;
            Ok(value)
        })
    }

    /// Runs one transaction, on a server until no other one comes between.
    pub(crate) fn repeat<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            match work(self) {
                Err(error)
                    if tries < TRIES_MAX
                        && begun.elapsed() < TRIES_FOR
                        && self.may_repeat(&error) =>
                {
                    tries += 1;
                    std::thread::sleep(pause(tries));
                }
                done => return done,
            }
        }
    }

    /// Returns whether a transaction that failed may run again: it is on a server, nothing of it is stored, and another one came between
    /// or the connection broke.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unused_self, reason = "SQLite lets no one between")
    )]
    fn may_repeat(&self, error: &StoreError) -> bool {
        #[cfg(feature = "postgres")]
        if self.conn.sqlite().is_none() {
            return match error {
                StoreError::Busy(_) => true,
                StoreError::Unreachable(error) => error.fault() == Fault::Lost,
                _ => false,
            };
        }
        let _ = error;
        false
    }

    /// Tries a write once: one of a run's own, or any other.
    pub(crate) fn write_once<T>(
        &mut self,
        context: &Context,
        of_run: Option<&RunId>,
        work: &mut impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self
            .conn
            .sqlite()
            .and_then(|sqlite| sqlite.path().map(PathBuf::from));
        let begun = self.conn.begin(match of_run {
            Some(_) => Purpose::Locking,
            None => Purpose::Write,
        });
        let tx = begun.map_err(|error| match &path {
            // A read-only file beside the database does not prevent opening it, but refuses the first write.
            Some(path) if error.fault() == Fault::NoAccess => open_error(path, error),
            _ => error.into(),
        })?;
        if let Some(run) = of_run {
            lock_row(&tx, run)?;
        }
        if let Err(error) = context.check(&tx) {
            drop(tx);
            if let StoreError::Superseded { run } = &error {
                // The run's row is locked, so that two who try at once are one entry.
                self.write_locking(|tx| {
                    lock_row(tx, run)?;
                    context.record_refusal(tx)
                })?;
            }
            return Err(error);
        }
        let value = work(&tx)?;
        tx.commit()?;
        Ok(value)
    }

    /// Runs several reads on one state of the database. They begin again where the connection to a server breaks.
    pub(crate) fn read<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut tries = 0;
        loop {
            let tx = self.conn.begin(Purpose::Read)?;
            let done = work(&tx);
            drop(tx);
            match done {
                Err(error) if tries < READS_MAX && self.may_repeat(&error) => tries += 1,
                done => return done,
            }
        }
    }
}

/// Returns how long to wait before a write is tried again: longer each time, and not as long as another process waits.
fn pause(tries: u32) -> Duration {
    let jitter = u64::from(uuid::Uuid::new_v4().as_bytes()[0] % 8);
    Duration::from_millis(u64::from(tries.min(20)) + jitter)
}

/// Checks that a file without a schema version may become a database of Symphony.
fn require_unused(conn: &Sqlite, path: &Path, without: Without) -> Result<(), StoreError> {
    let tables: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| open_error(path, error))?;
    match without {
        _ if tables > 0 => Err(StoreError::NotADatabase {
            path: path.to_owned(),
            reason: "it is the database of another program",
        }),
        Without::Refuse => Err(StoreError::Empty {
            path: path.to_owned(),
        }),
        Without::Fill => Ok(()),
    }
}

/// Names what prevented the update of the schema. A full disk is one reason.
fn migration_error(path: &Path, error: rusqlite_migration::Error) -> StoreError {
    match error {
        rusqlite_migration::Error::RusqliteError { err, .. }
            if sqlite_fault(&err) == Fault::DiskFull =>
        {
            err.into()
        }
        error => StoreError::Open {
            path: path.to_owned(),
            reason: format!("its schema cannot be updated: {error}"),
        },
    }
}

pub(crate) fn open_error(path: &Path, error: impl Into<DbError>) -> StoreError {
    let error = error.into();
    let not_a_database = |reason| StoreError::NotADatabase {
        path: path.to_owned(),
        reason,
    };
    let reason = match error.fault() {
        // SQLite needs a little space beside the database even for reading.
        Fault::DiskFull => return error.into(),
        Fault::NotADatabase => {
            return not_a_database(
                "it is not a SQLite database: it is damaged, or a file of another kind",
            );
        }
        Fault::Damaged => return not_a_database("it is damaged"),
        Fault::NoAccess => cannot_write(path),
        _ => error.to_string(),
    };
    StoreError::Open {
        path: path.to_owned(),
        reason,
    }
}

/// Returns which file of a database is not writable: often one beside it that another user created.
fn cannot_write(path: &Path) -> String {
    let files = unwritable_files(path);
    if files.is_empty() {
        return "there is no such file, or you may not read and write it".to_owned();
    }
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let (names, is) = (
        names.join(", "),
        if files.len() == 1 { "is" } else { "are" },
    );
    format!(
        "{names} {is} not writable for you: `ls -l` shows the owner, `chown` and `chmod u+w` change owner and access"
    )
}

impl Store {
    /// Returns journal mode and `synchronous` level (2 is FULL), as SQLite reports them.
    ///
    /// # Errors
    /// When SQLite cannot report them.
    pub fn durability(&self) -> Result<(String, i64), StoreError> {
        let mode = self
            .conn
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        let level = self
            .conn
            .query_row("PRAGMA synchronous", [], |row| row.get(0))?;
        Ok((mode, level))
    }

    /// Lets the database grow by at most this many pages and refuses what does not fit, like a full disk; `None`
    /// removes the limit. A server refuses every write instead. For rehearsals of a full disk, on this connection only.
    ///
    /// # Errors
    /// When the size of the database cannot be read.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        #[cfg(feature = "postgres")]
        if let Connection::Postgres(server) = &self.conn {
            server.set_full(pages.is_some());
            return Ok(());
        }
        let size: i64 = self
            .conn
            .query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let limit = pages.map_or(i64::from(u32::MAX - 1), |pages| size + i64::from(pages));
        self.conn
            .query_row(&format!("PRAGMA max_page_count = {limit}"), [], |_| Ok(()))?;
        Ok(())
    }
}

/// A database before its migration.
#[derive(Debug)]
pub struct Migrating<'a> {
    pub(crate) conn: &'a Connection,
    /// The current version of its schema.
    pub from: i64,
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_prepared_once() {
        let store = Store::open_in_memory().unwrap();
        let sqlite = store.conn.sqlite().unwrap();
        let sql =
            "SELECT id FROM issue WHERE project = ?1 AND status = ?2 ORDER BY number LIMIT ?3";
        let mut statement = sqlite.prepare(sql).unwrap();
        for limit in [1, 5] {
            let mut rows = statement.query(("p", "todo", limit)).unwrap();
            assert!(rows.next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn a_full_disk_is_one_while_the_schema_is_brought_up_to_date_too() {
        let failed = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            migration_error(
                Path::new("symphony.db"),
                rusqlite_migration::Error::with_sql(error, ""),
            )
        };
        for code in [
            rusqlite::ffi::SQLITE_FULL,
            rusqlite::ffi::SQLITE_IOERR_SHMSIZE,
        ] {
            assert!(matches!(failed(code), StoreError::DiskFull(_)), "{code}");
        }
        let other = failed(rusqlite::ffi::SQLITE_ERROR);
        assert!(matches!(other, StoreError::Open { .. }), "{other:?}");
    }
}
