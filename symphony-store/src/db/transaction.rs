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
        connection.execute_batch(match purpose {
            Purpose::Write => "BEGIN IMMEDIATE",
            Purpose::Read => "BEGIN DEFERRED",
        })?;
        Ok(Self {
            connection,
            is_open: true,
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
