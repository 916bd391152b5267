//! A client that waits for the server, and not for ever.
//!
//! The server ends a statement that takes too long, and the system a connection whose other end is gone. A server that is stopped, or
//! whose disk hangs, does neither: its system still acknowledges what is sent. So each answer has a time here, too.

use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client as Sender, Config, Error, NoTls, Row};

use super::tls::Tls;
use super::wait::{runtime, wait};

/// How long an answer may take: longer than the server may work on a statement, or wait for a lock.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(20);
/// How long connecting may take, from the first packet to the server's "ready".
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long an answer is looked for once more when its time is over: this process may have been stopped, and the answer is there.
const LAST_LOOK: Duration = Duration::from_millis(200);
/// How long the server is given to hear that the session ends.
const GOODBYE_MAX: Duration = Duration::from_secs(1);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The server, or the way to it, said why.
    #[error(transparent)]
    Refused(#[from] Error),
    /// The connection was accepted, and then nothing came.
    #[error(
        "it accepts connections but does not answer within {} s: it may be suspended, or its disk may hang",
        CONNECT_MAX.as_secs()
    )]
    Silent,
    /// This process cannot wait for anything.
    #[error("this process cannot wait for its answer: {0}")]
    System(#[from] std::io::Error),
}

/// One connection, which a thread of its own serves.
#[derive(Debug)]
pub(crate) struct Client {
    /// `None` only while it is dropped.
    sender: Option<Sender>,
    connection: JoinHandle<()>,
    answer_max: Option<Duration>,
}

impl Client {
    /// Connects; encrypted, if there is something that does it.
    ///
    /// # Errors
    /// When the server cannot be reached, refuses, or does not answer.
    pub(crate) fn connect(config: &Config, tls: Option<&Tls>) -> Result<Self, ConnectError> {
        let (config, tls) = (config.clone(), tls.cloned());
        let mut connecting = runtime()?.spawn(async move {
            Ok::<_, Error>(if let Some(tls) = tls {
                let (sender, connection) = config.connect(tls).await?;
                (sender, tokio::spawn(end(connection)))
            } else {
                let (sender, connection) = config.connect(NoTls).await?;
                (sender, tokio::spawn(end(connection)))
            })
        });
        let Some(connected) = wait(Pin::new(&mut connecting), CONNECT_MAX) else {
            connecting.abort();
            return Err(ConnectError::Silent);
        };
        let (sender, connection) = connected.map_err(std::io::Error::other)??;
        Ok(Self {
            sender: Some(sender),
            connection,
            answer_max: Some(ANSWER_MAX),
        })
    }

    /// Waits for answers as long as they take: for work that its user watches.
    pub(crate) fn patient(mut self) -> Self {
        self.answer_max = None;
        self
    }

    /// Runs statements without parameters.
    pub(crate) fn batch_execute(&self, sql: &str) -> Result<(), Error> {
        self.answer(self.sender().batch_execute(sql))
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(crate) fn execute_typed(
        &self,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, Error> {
        self.answer(self.sender().execute_typed(sql, values))
    }

    /// Runs a query.
    pub(crate) fn query_typed(
        &self,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, Error> {
        self.answer(self.sender().query_typed(sql, values))
    }

    /// Returns the names of a query's columns.
    pub(crate) fn column_names(&self, sql: &str) -> Result<Vec<String>, Error> {
        let statement = self.answer(self.sender().prepare(sql))?;
        let columns = statement.columns().iter();
        Ok(columns.map(|column| column.name().to_owned()).collect())
    }

    /// Returns whether the connection has ended, as far as is known without asking.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender().is_closed()
    }

    fn sender(&self) -> &Sender {
        self.sender.as_ref().expect("it is taken in `drop` only")
    }

    /// Waits for an answer. When its time is over the connection is given up, and the answer becomes an error that says so.
    fn answer<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut answer = pin!(answer);
        if let Some(limit) = self.answer_max {
            for limit in [limit, LAST_LOOK] {
                if let Some(answer) = wait(answer.as_mut(), limit) {
                    return answer;
                }
            }
            tracing::warn!(seconds = limit.as_secs(), "the database does not answer");
            self.connection.abort();
        }
        loop {
            if let Some(answer) = wait(answer.as_mut(), Duration::MAX) {
                return answer;
            }
        }
    }
}

/// Serves a connection until it ends. Its error reaches whoever waits for an answer.
async fn end(connection: impl Future<Output = Result<(), Error>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "the connection to the database ended");
    }
}

impl Drop for Client {
    /// Says goodbye: a session that only breaks is reported in the server's log.
    fn drop(&mut self) {
        drop(self.sender.take());
        let _ended = wait(Pin::new(&mut self.connection), GOODBYE_MAX);
    }
}
