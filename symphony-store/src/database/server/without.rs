//! A build without PostgreSQL: it refuses every address, and says how to get a build with it.

use symphony_core::config::ServerAddress;

use super::SchemaChange;
use crate::database::open::Store;
use crate::error::StoreError;

impl Store {
    /// Opens the database on a server.
    ///
    /// # Errors
    /// Always: this build has no PostgreSQL.
    pub fn open_on(address: &ServerAddress) -> Result<Self, StoreError> {
        Err(refused(address))
    }

    /// Opens the database on a server, and makes its tables if there are none.
    ///
    /// # Errors
    /// Always: this build has no PostgreSQL.
    pub fn create_on(address: &ServerAddress) -> Result<Self, StoreError> {
        Err(refused(address))
    }

    /// Makes the tables on a server, or brings them up to date.
    ///
    /// # Errors
    /// Always: this build has no PostgreSQL.
    pub fn prepare_on(address: &ServerAddress) -> Result<SchemaChange, StoreError> {
        Err(refused(address))
    }
}

fn refused(address: &ServerAddress) -> StoreError {
    StoreError::NoPostgres {
        address: address.to_string(),
    }
}
