//! Copies of the whole database, written by SQLite while others read and write. No other code opens a database's file,
//! since closing it would drop its locks.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::backup::Backup;
use rusqlite::{Connection as Sqlite, OpenFlags};

use crate::database::migration::SCHEMA_VERSION;
use crate::database::open::{Migrating, Store};
use crate::db::{Connection, DbError};
use crate::error::StoreError;

impl Migrating<'_> {
    /// Returns the database's installation id, if it has one yet.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn installation(&self) -> Result<Option<symphony_core::id::InstallationId>, StoreError> {
        crate::database::identity::installation_of(self.conn)
    }

    /// Writes a copy of the database before the migration.
    ///
    /// # Errors
    /// As [`Store::backup_to`].
    pub fn backup_to(&self, path: &Path) -> Result<(), StoreError> {
        copy_whole(self.conn, path)
    }
}

/// A database file that may be restored.
#[derive(Debug)]
pub struct BackupFile {
    conn: Connection,
    path: std::path::PathBuf,
}

/// The contents of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupContents {
    /// Its installation; `None` when it was made before databases had ids.
    pub installation: Option<symphony_core::id::InstallationId>,
    /// The version of its schema.
    pub schema: i64,
    /// Its projects: id, prefix and folder.
    pub projects: Vec<BackupProject>,
}

/// A project in a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupProject {
    /// Its id.
    pub id: symphony_core::id::ProjectId,
    /// Its folder.
    pub root: std::path::PathBuf,
}

impl BackupFile {
    /// Opens a file for reading, without changing anything in it.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a database.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Sqlite::open_with_flags(path, flags)
            .map_err(|error| crate::database::open::open_error(path, error))?;
        Ok(Self {
            conn: conn.into(),
            path: path.to_owned(),
        })
    }

    /// Returns its contents.
    ///
    /// # Errors
    /// When it is not a database of Symphony, or a newer Symphony wrote it.
    pub fn contents(&self) -> Result<BackupContents, StoreError> {
        let failed = |error: DbError| crate::database::open::open_error(&self.path, error);
        let schema: i64 = self
            .conn
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(failed)?;
        if schema > SCHEMA_VERSION {
            return Err(StoreError::NewerSchema {
                path: self.path.clone(),
                found: schema,
                known: SCHEMA_VERSION,
            });
        }
        if schema == 0 {
            return Err(StoreError::NotADatabase {
                path: self.path.clone(),
                reason: "it has no Symphony schema",
            });
        }
        let mut statement = self
            .conn
            .prepare("SELECT id, root FROM project ORDER BY created_at, id")
            .map_err(failed)?;
        let mut rows = statement.query([])?;
        let mut projects = Vec::new();
        while let Some(row) = &rows.next()? {
            let root: String = row.get("root")?;
            projects.push(BackupProject {
                id: crate::database::row::parsed("project id", row.get("id")?)?,
                root: root.into(),
            });
        }
        Ok(BackupContents {
            installation: crate::database::identity::installation_of(&self.conn)?,
            schema,
            projects,
        })
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.conn
    }

    /// Checks that every page can be read and every reference has its row.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn check(&self) -> Result<(), StoreError> {
        let damaged = || StoreError::NotADatabase {
            path: self.path.clone(),
            reason: "it is damaged",
        };
        let word: String = self
            .conn
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(|error| crate::database::open::open_error(&self.path, error))?;
        let dangling: i64 =
            self.conn
                .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
                    row.get(0)
                })?;
        if word == "ok" && dangling == 0 {
            Ok(())
        } else {
            Err(damaged())
        }
    }

    /// Copies it to a new file.
    ///
    /// # Errors
    /// As [`Store::backup_to`].
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        copy_whole(&self.conn, path)
    }
}

impl Store {
    /// Writes a complete copy of the database as of one moment, while others continue to read and write. The copy is
    /// one file, and is on the disk when this returns.
    ///
    /// # Errors
    /// When the file already exists, or cannot be written.
    pub fn backup_to(&self, path: &Path) -> Result<(), StoreError> {
        copy_whole(&self.conn, path)
    }

    /// Returns a number that increases with everything recorded in the log. A copy with the same number has the same
    /// contents.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn log_position(&self) -> Result<i64, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT coalesce(max(id), 0) FROM event")?
            .query_row([], |row| row.get(0))?)
    }
}

fn copy_whole(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let unwritable = |error: &std::io::Error| {
        StoreError::refused(format!("cannot write {}: {error}", path.display()))
    };
    let Some(sqlite) = conn.sqlite() else {
        return Err(StoreError::refused(
            "the database is in PostgreSQL: `pg_dump` writes a copy of it",
        ));
    };
    // Created here, since SQLite would make it readable for everyone.
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_empty) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(StoreError::refused(format!(
                "{} already exists: name another file",
                path.display()
            )));
        }
        Err(error) => return Err(unwritable(&error)),
    }
    let written = copy_pages(sqlite, path);
    if written.is_err() {
        // Half a copy is worse than none. The error of the copy is the one to report.
        let _left = std::fs::remove_file(path);
    }
    written?;
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| unwritable(&error))
}

fn copy_pages(conn: &Sqlite, path: &Path) -> Result<(), StoreError> {
    let mut copy = Sqlite::open(path)?;
    // All pages in one step: readers do not block writers, while a copy in several steps would start over with each
    // write in between.
    Backup::new(conn, &mut copy)?.step(-1)?;
    // A single file, which can be read where nothing may be written.
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_row| Ok(()))?;
    copy.close().map_err(|(_, error)| error.into())
}
