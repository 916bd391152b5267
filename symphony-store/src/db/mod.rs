//! The engine below the store: one connection, its statements, its transactions. Everything above works with these types, and
//! with no engine's own.
//!
//! Values are [`ToSql`] and [`FromSql`] of rusqlite, whichever engine keeps them.

mod error;
mod param;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
mod row;
mod statement;
mod transaction;

pub use error::DbError;
pub(crate) use error::{Fault, OptionalExtension, sqlite_fault};
pub(crate) use param::{Params, params_from_iter};
pub(crate) use row::{Row, Rows};
pub(crate) use rusqlite::params;
pub(crate) use rusqlite::types::{ToSql, Value as SqlValue, ValueRef};
pub(crate) use statement::Statement;
pub(crate) use transaction::{Purpose, Transaction};

/// How often a read on a server begins again after a broken connection: one alone, or all of a transaction.
pub(crate) const READS_MAX: u32 = 5;

/// The connection to the database.
#[derive(Debug)]
pub(crate) enum Connection {
    /// SQLite, in this process.
    Sqlite(rusqlite::Connection),
    /// PostgreSQL, on a server.
    #[cfg(feature = "postgres")]
    Postgres(Box<postgres::Postgres>),
}

impl From<rusqlite::Connection> for Connection {
    fn from(connection: rusqlite::Connection) -> Self {
        Self::Sqlite(connection)
    }
}

impl Connection {
    /// Prepares a statement, or takes the one that was prepared for the same text.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>, DbError> {
        match self {
            Self::Sqlite(sqlite) => Ok(Statement::Cached(sqlite.prepare_cached(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => Ok(Statement::Sent(server, server.text(sql))),
        }
    }

    /// Prepares a statement whose text is seldom the same.
    pub(crate) fn prepare(&self, sql: &str) -> Result<Statement<'_>, DbError> {
        match self {
            Self::Sqlite(sqlite) => Ok(Statement::Once(sqlite.prepare(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => Ok(Statement::Sent(server, server.text(sql))),
        }
    }

    /// Runs a statement that returns nothing; returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, DbError> {
        self.prepare(sql)?.execute(params)
    }

    /// Runs a query and reads its first row. [`Fault::NoRows`] when it has none.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Runs several statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<(), DbError> {
        match self {
            Self::Sqlite(sqlite) => Ok(sqlite.execute_batch(sql)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => server.execute_batch(sql),
        }
    }

    /// Returns the names of all tables, in their order, without the counts, which are a view on a server.
    pub(crate) fn tables(&self) -> Result<Vec<String>, DbError> {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'issue_count' ORDER BY name"
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => {
                "SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('engine_session', 'schema_version') ORDER BY 1"
            }
        };
        let mut statement = self.prepare(sql)?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.collect()
    }

    /// Returns the connection where the engine is SQLite: for copies of the file, and for its own settings.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unnecessary_wraps, reason = "PostgreSQL has none")
    )]
    pub(crate) const fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Sqlite(sqlite) => Some(sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// As [`Connection::sqlite`], for migrations.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unnecessary_wraps, reason = "PostgreSQL has none")
    )]
    pub(crate) const fn sqlite_mut(&mut self) -> Option<&mut rusqlite::Connection> {
        match self {
            Self::Sqlite(sqlite) => Some(sqlite),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    /// Begins a transaction, which is undone unless it is committed.
    pub(crate) fn begin(&mut self, purpose: Purpose) -> Result<Transaction<'_>, DbError> {
        Transaction::begin(self, purpose)
    }
}
