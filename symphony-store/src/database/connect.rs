//! Opening the database on a server.

use std::str::FromStr as _;

use tokio_postgres::Config;

use crate::database::open::Store;
use crate::database::server::creation;
use crate::database::test_copy;
use crate::db::Connection;
use crate::db::postgres::Postgres;
use crate::error::StoreError;

/// Names a server on which tests make their databases.
const TEST_DATABASE: &str = "SYMPHONY_TEST_DATABASE";

impl Store {
    /// Opens the database in a schema of a PostgreSQL server, and creates it if it does not exist.
    ///
    /// # Errors
    /// When the address is none, or the server cannot be reached.
    pub fn connect(address: &str, schema: &str) -> Result<Self, StoreError> {
        Self::in_schema(&parsed(address)?, schema)
    }

    pub(crate) fn connect_for_test() -> Result<Option<Self>, StoreError> {
        let Some(address) = std::env::var_os(TEST_DATABASE) else {
            return Ok(None);
        };
        let config = parsed(&address.to_string_lossy())?;
        let copy = test_copy::copy(&config)
            .map_err(|error| StoreError::refused(format!("no database for a test: {error}")))?;
        Self::in_schema(&copy, test_copy::SCHEMA).map(Some)
    }

    fn in_schema(config: &Config, schema: &str) -> Result<Self, StoreError> {
        let conn = Connection::Postgres(Box::new(Postgres::connect(config, schema, creation)?));
        Ok(Self { conn, home: None })
    }
}

fn parsed(address: &str) -> Result<Config, StoreError> {
    Config::from_str(address).map_err(|error| {
        StoreError::refused(format!("this is not an address of PostgreSQL: {error}"))
    })
}
