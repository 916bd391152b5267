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
    /// Of a server, or the way to it.
    #[cfg(feature = "postgres")]
    Server(super::postgres::ServerError),
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        Self(Cause::Sqlite(error))
    }
}

#[cfg(feature = "postgres")]
impl From<super::postgres::ServerError> for DbError {
    fn from(error: super::postgres::ServerError) -> Self {
        Self(Cause::Server(error))
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
    /// The connection to the server broke before anything of the transaction was stored.
    #[cfg(feature = "postgres")]
    Lost,
    /// The server cannot be reached.
    #[cfg(feature = "postgres")]
    Unreachable,
    /// The server could not carry out a statement, for want of time, memory or a disk that answers. Nothing of the transaction is stored.
    #[cfg(feature = "postgres")]
    Overtaxed,
    /// The connection to the server broke while it stored something, and it could not be asked since.
    #[cfg(feature = "postgres")]
    Unknown,
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
            Cause::Server(error) => error.fault(),
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
