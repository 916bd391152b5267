//! Transactions.

use std::ops::Deref;

use super::{Connection, DbError};

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It writes, and holds the lock for it from its start: one that reads first and asks for the lock later could find that
    /// another process wrote in between, and would fail instead of waiting.
    Write,
    /// Several reads of one state of the database.
    Read,
}

/// A transaction. It is undone unless it is committed.
#[derive(Debug)]
pub(crate) struct Transaction<'c> {
    connection: &'c Connection,
    is_open: bool,
}

impl<'c> Transaction<'c> {
    /// Begins one; the caller's connection has no other.
    pub(super) fn begin(connection: &'c Connection, purpose: Purpose) -> Result<Self, DbError> {
        connection.execute_batch(match (connection, purpose) {
            (Connection::Sqlite(_), Purpose::Write) => "BEGIN IMMEDIATE",
            (Connection::Sqlite(_), Purpose::Read) => "BEGIN DEFERRED",
            #[cfg(feature = "postgres")]
            (Connection::Postgres(_), Purpose::Write) => "BEGIN ISOLATION LEVEL SERIALIZABLE",
            #[cfg(feature = "postgres")]
            (Connection::Postgres(_), Purpose::Read) => {
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
        })?;
        Ok(Self {
            connection,
            is_open: true,
        })
    }

    /// Lets rows refer to some that do not exist, until the transaction is committed.
    pub(crate) fn defer_references(&self) -> Result<(), DbError> {
        self.connection.execute_batch(match self.connection {
            Connection::Sqlite(_) => "PRAGMA defer_foreign_keys = true",
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => "SET CONSTRAINTS ALL DEFERRED",
        })
    }

    /// Makes what it wrote last.
    pub(crate) fn commit(mut self) -> Result<(), DbError> {
        self.connection.execute_batch("COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // SQLite has undone it by itself after some errors, and then says that there is none.
            let _undone = self.connection.execute_batch("ROLLBACK");
        }
    }
}
