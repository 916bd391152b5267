//! The database in PostgreSQL.
//!
//! Each statement is sent with the types of its values, in one round trip and without a name. What a session begins with stays in
//! force (`session`), so that a pooler between here and the server has to give each session a connection of its own.
//!
//! A connection that breaks is replaced. What was read is read again; a transaction that had not reached its commit is undone, and its
//! write runs again; what a commit without an answer did is asked (`session`). `fault` decides all of that.

mod client;
mod dialect;
mod fault;
mod session;
#[cfg(test)]
mod texts;
mod tls;
mod turn;
mod value;
mod wait;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Row};

use super::{DbError, Params, Purpose, READS_MAX};
pub(crate) use client::{Client, ConnectError};
pub(super) use fault::ServerError;
pub(crate) use fault::is_overtaxed;
use fault::{Ended, Wish, ended, is_lost};
pub(crate) use session::{Server, quoted};
pub(crate) use tls::Tls;
use value::Value;
pub(super) use value::column;

/// The transaction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Under {
    /// There is none.
    None,
    /// It is open.
    Way(Purpose),
    /// A statement of it failed: the server answers a commit by undoing it, and calls that no error.
    Failed,
}

/// A connection to PostgreSQL.
pub(crate) struct Postgres {
    server: Server,
    client: RefCell<Client>,
    under: Cell<Under>,
    /// The session's name in `engine_session`.
    session: String,
    /// The number of its newest write.
    write: Cell<i64>,
    /// Whether the session has the tick's turn.
    turn: Cell<turn::Has>,
    /// Whether writes are refused, to rehearse a full disk.
    full: Cell<bool>,
    /// How many writes in a row failed, so that the next one is probably the same.
    failures: Cell<u32>,
    /// Whether the last write waited for others in vain, so that the next one does not wait.
    waited: Cell<bool>,
    /// The texts of statements for PostgreSQL, by their own.
    texts: RefCell<HashMap<String, Arc<str>>>,
}

/// How many times in a row a write fails before it is alone.
const ALONE_AFTER: u32 = 4;
/// Waits for other writes that failed. Of the locks that exclude themselves, this one is in the way of the fewest: no one reads or writes
/// with another one.
const IN_TURN: &str = "SET LOCAL lock_timeout = '2s'; LOCK TABLE engine_session IN SHARE UPDATE EXCLUSIVE MODE; \
                     SET LOCAL lock_timeout = '10s';";
/// Waits for all writes that are under way, and lets no other one begin: each writes the row of its session first. Single statements, such
/// as beats, go on.
const ALONE: &str = "SET LOCAL lock_timeout = '8s'; LOCK TABLE engine_session IN SHARE ROW EXCLUSIVE MODE; \
                     SET LOCAL lock_timeout = '10s';";

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    /// Connects to a server without encryption, and uses one schema of the database, which is filled if it does not exist.
    pub(crate) fn connect(
        config: &Config,
        schema: &str,
        creation: fn() -> String,
    ) -> Result<Self, DbError> {
        let server = Server::new(config, None, schema).creating(creation);
        let client = server.connect(Wish::First)?;
        Ok(Self::over(server, client))
    }

    /// Uses a schema that has the tables, over a connection that was made to look for them.
    pub(crate) fn use_schema(server: Server, client: Client) -> Result<Self, DbError> {
        server.begin(&client)?;
        Ok(Self::over(server, client))
    }

    fn over(server: Server, client: Client) -> Self {
        Self {
            server,
            client: RefCell::new(client),
            under: Cell::new(Under::None),
            session: uuid::Uuid::new_v4().to_string(),
            write: Cell::new(0),
            turn: Cell::new(turn::Has::Not),
            full: Cell::new(false),
            failures: Cell::new(0),
            waited: Cell::new(false),
            texts: RefCell::default(),
        }
    }

    /// Returns a statement's text for PostgreSQL.
    pub(super) fn text(&self, sql: &str) -> Arc<str> {
        if let Some(text) = self.texts.borrow().get(sql) {
            return Arc::clone(text);
        }
        let text: Arc<str> = dialect::translate(sql).into();
        let mut texts = self.texts.borrow_mut();
        texts.insert(sql.to_owned(), Arc::clone(&text));
        text
    }

    /// Runs statements without parameters.
    pub(super) fn execute_batch(&self, sql: &str) -> Result<(), DbError> {
        Ok(self.once(|client| client.batch_execute(sql))?)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) fn execute(&self, text: &str, params: impl Params) -> Result<usize, DbError> {
        let values = Value::all(params)?;
        let typed = typed(&values);
        let changed = self.once(|client| client.execute_typed(text, &typed))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a query, and returns all its rows.
    pub(super) fn query(&self, text: &str, params: impl Params) -> Result<Vec<Row>, DbError> {
        let values = Value::all(params)?;
        let typed = typed(&values);
        Ok(self.read(|client| client.query_typed(text, &typed))?)
    }

    /// Returns the names of a query's columns.
    pub(super) fn column_names(&self, text: &str) -> Result<Vec<String>, DbError> {
        Ok(self.read(|client| client.column_names(text))?)
    }

    /// Begins a transaction. That stores nothing, so it is tried again on another connection.
    ///
    /// A write reads through indexes. PostgreSQL would read the whole of a small table, and a serializable transaction that did fails
    /// with any other that writes there (PostgreSQL's manual, "Serializable Isolation Level"). One that failed waits for others that
    /// did, before it looks at anything: 16 that begin again at the same moment would fail each other again and again. One that failed
    /// four times is alone: a claim of many runs lost against the short writes of their ends 29 times in a row. Where waiting takes too
    /// long, it is tried without: a host that stops in its turn keeps it until the server ends its transaction, after three seconds.
    pub(super) fn begin(&self, purpose: Purpose) -> Result<(), DbError> {
        let text = match purpose {
            Purpose::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Purpose::Write | Purpose::Locking if self.full.get() => {
                return Err(ServerError::Full.into());
            }
            Purpose::Write | Purpose::Locking => {
                let level = if purpose == Purpose::Write {
                    "SERIALIZABLE"
                } else {
                    "READ COMMITTED"
                };
                let queue = match self.failures.get() {
                    _ if purpose != Purpose::Write || self.waited.replace(false) => "",
                    0 => "",
                    1..ALONE_AFTER => IN_TURN,
                    _ => ALONE,
                };
                self.write.set(self.write.get() + 1);
                format!(
                    "BEGIN ISOLATION LEVEL {level}; {queue} SET LOCAL enable_seqscan = off; \
                     INSERT INTO engine_session (id, write, at) VALUES ('{}', {}, now()) \
                     ON CONFLICT (id) DO UPDATE SET write = excluded.write, at = excluded.at",
                    self.session,
                    self.write.get()
                )
            }
        };
        match self.read(|client| client.batch_execute(&text)) {
            Ok(()) => {
                self.under.set(Under::Way(purpose));
                Ok(())
            }
            Err(error) => {
                // the transaction may have begun before its first statement failed
                self.rollback();
                if self.failures.get() > 0 {
                    self.waited.set(true);
                    self.note_end(true);
                }
                Err(error.into())
            }
        }
    }

    /// Refuses writes as a server without space does, or no longer.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.set(full);
    }

    /// Makes last what the transaction wrote. Without an answer, the server is asked what became of it.
    pub(super) fn commit(&self) -> Result<(), DbError> {
        let under = self.under.replace(Under::None);
        if under == Under::Failed {
            self.note_end(true);
            self.rollback();
            return Err(ServerError::FailedBefore.into());
        }
        let done = self.send(|client| client.batch_execute("COMMIT"));
        self.note_end(done.is_err());
        match done {
            Err(ServerError::Lost(error))
                if matches!(under, Under::Way(Purpose::Write | Purpose::Locking)) =>
            {
                tracing::warn!(error = %fault::words(&error), "a commit has no answer");
                Ok(self.settle()?)
            }
            done => Ok(done?),
        }
    }

    /// Undoes the transaction. A server that does not answer does it by itself.
    pub(super) fn rollback(&self) {
        match self.under.replace(Under::None) {
            Under::None => {}
            Under::Way(_) => self.note_end(false),
            Under::Failed => self.note_end(true),
        }
        if !self.client.borrow().is_closed() {
            let _undone = self.send(|client| client.batch_execute("ROLLBACK"));
        }
    }

    /// Notes how a transaction ended.
    fn note_end(&self, has_failed: bool) {
        let failures = self.failures.get().saturating_add(1);
        self.failures.set(if has_failed { failures } else { 0 });
    }

    /// Asks how the newest write ended. Writing the session's row waits for a server that still works on it, also where that row is
    /// a new one, which reading would not find and not wait for.
    fn settle(&self) -> Result<(), ServerError> {
        let text = "INSERT INTO engine_session AS s (id, write, at) VALUES ($1, 0, now()) \
             ON CONFLICT (id) DO UPDATE SET at = excluded.at RETURNING s.write";
        let session = [(&self.session as &(dyn ToSql + Sync), Type::TEXT)];
        let stored = self
            .read(|client| client.query_typed(text, &session))
            .map_err(|error| ServerError::Unknown(error.to_string()))?;
        match ended(self.write.get(), stored.first().map(|row| row.get(0))) {
            Ended::Stored => Ok(()),
            Ended::Undone => Err(ServerError::Undone),
        }
    }

    /// Sends something that may be sent again: outside of a transaction, a broken connection is replaced.
    fn read<T>(
        &self,
        work: impl Fn(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, ServerError> {
        let mut tries = 0;
        loop {
            match self.send_ready(&work) {
                Err(ServerError::Lost(_))
                    if self.under.get() == Under::None && tries < READS_MAX =>
                {
                    tries += 1;
                }
                done => return done,
            }
        }
    }

    /// Sends something once. By itself it is its own transaction, which may be stored without an answer.
    fn once<T>(
        &self,
        work: impl Fn(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, ServerError> {
        self.send_ready(work).map_err(|error| match error {
            ServerError::Lost(error) if self.under.get() == Under::None => {
                ServerError::Unknown(fault::words(&error))
            }
            other => other,
        })
    }

    /// Sends something on a connection that was there when it was sent.
    fn send_ready<T>(
        &self,
        work: impl Fn(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, ServerError> {
        if self.under.get() != Under::None {
            let done = self.send(work);
            if done.is_err() {
                self.under.set(Under::Failed);
            }
            return done;
        }
        if self.client.borrow().is_closed() {
            let client = self.server.connect(Wish::Again)?;
            *self.client.borrow_mut() = client;
            self.take_turn_again();
        }
        self.send(work)
    }

    fn send<T>(
        &self,
        work: impl Fn(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, ServerError> {
        let client = self.client.borrow();
        work(&client).map_err(|error| {
            if is_lost(&error, client.is_closed()) {
                ServerError::Lost(error)
            } else {
                ServerError::Refused(error)
            }
        })
    }
}

fn typed(values: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let with_type = |value| (value as &(dyn ToSql + Sync), Value::kind(value));
    values.iter().map(with_type).collect()
}
