//! Errors of the engine, by what they mean for the store.

use rusqlite::ErrorCode;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DbError(Cause);

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Cause {
    /// Of SQLite, or of a value's type.
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Error),
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        Self(Cause::Sqlite(error))
    }
}

#[cfg(feature = "postgres")]
impl From<postgres::Error> for DbError {
    fn from(error: postgres::Error) -> Self {
        Self(Cause::Postgres(error))
    }
}

/// What an error means to whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Another process held a lock for too long.
    Busy,
    /// There is no room left on the disk.
    DiskFull,
    /// A part of the file is damaged.
    Damaged,
    /// The file is of another kind, or damaged from its beginning.
    NotADatabase,
    /// The file cannot be opened, or only be read.
    NoAccess,
    /// The query has no row.
    NoRows,
    /// Anything else.
    Other,
}

impl DbError {
    /// Returns the error for a query without a row.
    pub(crate) const fn no_rows() -> Self {
        Self(Cause::Sqlite(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Returns what the error means.
    pub(crate) fn fault(&self) -> Fault {
        match &self.0 {
            Cause::Sqlite(error) => sqlite_fault(error),
            #[cfg(feature = "postgres")]
            Cause::Postgres(error) => postgres_fault(error),
        }
    }
}

/// Returns what an error of SQLite means.
pub(crate) fn sqlite_fault(error: &rusqlite::Error) -> Fault {
    if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
        return Fault::NoRows;
    }
    // the shared memory beside the database could not grow
    let extended = error.sqlite_error().map(|error| error.extended_code);
    if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) {
        return Fault::DiskFull;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Fault::DiskFull,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Busy,
        Some(ErrorCode::DatabaseCorrupt) => Fault::Damaged,
        Some(ErrorCode::NotADatabase) => Fault::NotADatabase,
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Fault::NoAccess
        }
        _ => Fault::Other,
    }
}

/// Returns what an error of PostgreSQL means (its manual, "PostgreSQL Error Codes").
#[cfg(feature = "postgres")]
fn postgres_fault(error: &postgres::Error) -> Fault {
    let Some(code) = error.code() else {
        return Fault::Other;
    };
    match code.code() {
        // not serializable, a deadlock, a lock that was waited for too long
        "40001" | "40P01" | "55P03" => Fault::Busy,
        "53100" => Fault::DiskFull,
        "25006" | "42501" => Fault::NoAccess,
        "XX001" | "XX002" => Fault::Damaged,
        _ => Fault::Other,
    }
}

/// A row that may be absent.
pub(crate) trait OptionalExtension<T> {
    /// Returns `None` where the query had no row.
    fn optional(self) -> Result<Option<T>, DbError>;
}

impl<T> OptionalExtension<T> for Result<T, DbError> {
    fn optional(self) -> Result<Option<T>, DbError> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.fault() == Fault::NoRows => Ok(None),
            Err(error) => Err(error),
        }
    }
}
