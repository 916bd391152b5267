//! Transactions.

use std::ops::Deref;

use super::{Connection, DbError};

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It writes, and holds the lock for it from its start: one that reads first and asks for the lock later could find that
    /// another process wrote in between, and would fail instead of waiting.
    Write,
    /// It writes, and locks the rows itself that it depends on. On a server other writes may come between, so it need not run
    /// again because of them: eight hosts that take runs from one queue would otherwise wait for each other.
    Locking,
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
        match (connection, purpose) {
            (Connection::Sqlite(sqlite), Purpose::Write | Purpose::Locking) => {
                sqlite.execute_batch("BEGIN IMMEDIATE")?;
            }
            (Connection::Sqlite(sqlite), Purpose::Read) => {
                sqlite.execute_batch("BEGIN DEFERRED")?;
            }
            #[cfg(feature = "postgres")]
            (Connection::Postgres(server), purpose) => server.begin(purpose)?,
        }
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

    /// Lifts the server's limits for a transaction that takes long because it reads or writes everything.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unnecessary_wraps, reason = "a file has no limits to lift")
    )]
    pub(crate) fn without_time_limits(&self) -> Result<(), DbError> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => self.connection.execute_batch(
                "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0",
            ),
        }
    }

    /// Makes what it wrote last.
    pub(crate) fn commit(mut self) -> Result<(), DbError> {
        match self.connection {
            Connection::Sqlite(sqlite) => sqlite.execute_batch("COMMIT")?,
            #[cfg(feature = "postgres")]
            Connection::Postgres(server) => {
                // whatever comes of it, there is nothing left to undo
                self.is_open = false;
                server.commit()?;
            }
        }
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
            match self.connection {
                Connection::Sqlite(sqlite) => {
                    // SQLite has undone it by itself after some errors, and then says that there is none.
                    let _undone = sqlite.execute_batch("ROLLBACK");
                }
                #[cfg(feature = "postgres")]
                Connection::Postgres(server) => server.rollback(),
            }
        }
    }
}
