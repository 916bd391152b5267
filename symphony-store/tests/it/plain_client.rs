//! A client of PostgreSQL without anything of Symphony.

use symphony_core::config::{ServerAddress, ServerHost};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, NoTls, Row};

/// One connection, and what serves it.
pub(crate) struct PlainClient {
    runtime: Runtime,
    client: tokio_postgres::Client,
}

impl PlainClient {
    /// Connects to a database, and searches its schema first.
    pub(crate) fn connect(address: &ServerAddress) -> Self {
        let mut config = Config::new();
        config
            .user(address.user())
            .dbname(address.database())
            .port(address.port());
        match address.host() {
            ServerHost::Name(name) => config.host(name),
            ServerHost::Socket(folder) => config.host_path(folder),
        };
        Self::in_schema(&config, address.schema())
    }

    /// Connects, and searches a schema first.
    pub(crate) fn in_schema(config: &Config, schema: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = config.connect(NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        let made = Self { runtime, client };
        let path = format!("SET search_path TO {schema}");
        made.batch_execute(&path).unwrap();
        made
    }

    pub(crate) fn batch_execute(&self, sql: &str) -> Result<(), Error> {
        self.runtime.block_on(self.client.batch_execute(sql))
    }

    pub(crate) fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        self.runtime.block_on(self.client.execute(sql, values))
    }

    pub(crate) fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.runtime.block_on(self.client.query(sql, values))
    }
}
