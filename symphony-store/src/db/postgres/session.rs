//! One session with the server: how it begins, and how it is replaced when the connection breaks.
//!
//! A commit whose answer is lost may have been stored or not, and repeating the write could do it twice. So each write first puts its
//! number into the session's own row of `engine_session`, in the same transaction. After a lost answer a new connection writes that row
//! and gets the number in it: writing waits for a transaction that still has the row, or is making it, so the answer is final.

use std::time::{Duration, Instant};

use tokio_postgres::Config;
use tokio_postgres::types::Type;

use super::client::{Client, ConnectError};
use super::fault::{Obstacle, ServerError, Wish, pause, words};
use super::tls::Tls;

/// What every session begins with (spec: scale-out, "Session"). A host that stops in the middle of a write keeps no one waiting
/// longer than these. One that is gone, or whose network is, has lost its session, and the locks of it, after 20 s. No statement is
/// worth being compiled.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '3s'; SET lock_timeout = '10s'; SET statement_timeout = '15s'; \
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2; \
     SET tcp_user_timeout = 20000; SET jit = off; SET client_min_messages = 'warning'; SET default_transaction_isolation = 'read committed'";
/// How long one address of the server may take to accept a connection.
const ACCEPT_MAX: Duration = Duration::from_secs(5);
/// How long what was sent may remain unacknowledged, by a host that is gone or a network that is cut.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);
/// How long a connection is silent before its other end is asked whether it is there.
const SILENT_MAX: Duration = Duration::from_secs(10);

/// Where the database is.
pub(crate) struct Server {
    config: Config,
    /// What encrypts the connection; `None` on this machine.
    tls: Option<Tls>,
    /// The schema's name in quotes.
    schema: String,
    /// What fills a schema that does not exist; `None` refuses it.
    creation: Option<fn() -> String>,
}

impl Server {
    /// Names a schema of a server's database.
    pub(crate) fn new(config: &Config, tls: Option<Tls>, schema: &str) -> Self {
        let mut config = config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(ACCEPT_MAX);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
        }
        config.keepalives_idle(SILENT_MAX);
        Self {
            config,
            tls,
            schema: quoted(schema),
            creation: None,
        }
    }

    /// Fills the schema if it does not exist.
    pub(super) const fn creating(mut self, creation: fn() -> String) -> Self {
        self.creation = Some(creation);
        self
    }

    /// Connects, without turning to the schema.
    ///
    /// # Errors
    /// In the words of the client.
    pub(crate) fn client(&self) -> Result<Client, ConnectError> {
        Client::connect(&self.config, self.tls.as_ref())
    }

    /// Begins a session, and waits for a server that will soon be there.
    pub(super) fn connect(&self, wish: Wish) -> Result<Client, ServerError> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            let (obstacle, problem) = match self.connect_once() {
                Ok(client) => return Ok(client),
                Err(failed) => failed,
            };
            let Some(pause) = pause(wish, obstacle, tries, begun.elapsed()) else {
                return Err(ServerError::Unreachable { obstacle, problem });
            };
            tracing::debug!(?obstacle, problem, "the database does not exist yet");
            std::thread::sleep(pause);
            tries += 1;
        }
    }

    fn connect_once(&self) -> Result<Client, (Obstacle, String)> {
        let client = self.client().map_err(|error| match error {
            ConnectError::Refused(error) => obstacle(&error),
            error => (Obstacle::Down, error.to_string()),
        })?;
        self.turn_to_schema(&client)?;
        Ok(client)
    }

    /// Turns a new connection to the schema, with the limits of a session.
    pub(super) fn begin(&self, client: &Client) -> Result<(), ServerError> {
        self.turn_to_schema(client)
            .map_err(|(obstacle, problem)| ServerError::Unreachable { obstacle, problem })
    }

    fn turn_to_schema(&self, client: &Client) -> Result<(), (Obstacle, String)> {
        let failed = |error: tokio_postgres::Error| obstacle(&error);
        client.batch_execute(SETTINGS).map_err(failed)?;
        let found = client
            .query_typed(
                "SELECT pg_is_in_recovery(), to_regnamespace($1) IS NOT NULL",
                &[(&self.schema, Type::TEXT)],
            )
            .map_err(failed)?;
        let (is_standby, exists) = found
            .first()
            .map_or((false, false), |row| (row.get(0), row.get(1)));
        let schema = &self.schema;
        match self.creation {
            _ if is_standby => Err((Obstacle::Standby, "it is in recovery".to_owned())),
            Some(creation) if !exists => {
                let tables = creation();
                let make = format!(
                    "BEGIN; CREATE SCHEMA {schema}; SET search_path TO {schema}; {tables}; COMMIT"
                );
                client.batch_execute(&make).map_err(failed)
            }
            None if !exists => Err((Obstacle::Refused, format!("it has no schema {schema}"))),
            _ => client
                .batch_execute(&format!("SET search_path TO {schema}"))
                .map_err(failed),
        }
    }
}

fn obstacle(error: &tokio_postgres::Error) -> (Obstacle, String) {
    let code = error.code().map(tokio_postgres::error::SqlState::code);
    (Obstacle::of(code), words(error))
}

/// Returns a name as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
