//! Which installation a database is: an id that every backup of it has, too.

use rusqlite::{Connection, OptionalExtension, params};
use symphony_core::id::InstallationId;
use uuid::Uuid;

use crate::database::open::Store;
use crate::database::row::parsed;
use crate::error::StoreError;

/// The setting that holds the id.
const KEY: &str = "installation";

/// Reads the id; none in a database that no Symphony with identities has opened yet.
pub(crate) fn installation_of(conn: &Connection) -> Result<Option<InstallationId>, StoreError> {
    let text: Option<String> = conn
        .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
        .query_row([KEY], |row| row.get(0))
        .optional()?;
    text.map(|text| parsed("installation id", text)).transpose()
}

/// Makes an id that no other database has.
pub fn new_installation_id() -> InstallationId {
    InstallationId::parse(Uuid::new_v4().simple().to_string())
        .expect("a UUID has 32 hexadecimal digits")
}

impl Store {
    /// Returns the database's installation id; none before [`Store::adopt_installation`].
    ///
    /// # Errors
    /// When the database cannot be read, or holds something else in its place.
    pub fn installation(&self) -> Result<Option<InstallationId>, StoreError> {
        installation_of(&self.conn)
    }

    /// Gives the database an id unless it has one, and returns the one that it has then. Of several processes that do so
    /// at once, the first one's id stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn adopt_installation(
        &mut self,
        wanted: &InstallationId,
    ) -> Result<InstallationId, StoreError> {
        self.conn.execute(
            "INSERT OR IGNORE INTO setting (key, value) VALUES (?1, ?2)",
            params![KEY, wanted.as_str()],
        )?;
        Ok(self.installation()?.unwrap_or_else(|| wanted.clone()))
    }
}
