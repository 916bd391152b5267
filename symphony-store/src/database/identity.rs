//! The identity of the installation: an id that the database shares with all its backups.

use symphony_core::id::InstallationId;
use uuid::Uuid;

use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, OptionalExtension, Purpose, params};
use crate::error::StoreError;

/// The setting with the id.
const KEY: &str = "installation";

/// Reads the id; `None` in a database that no version with ids has opened yet.
pub(crate) fn installation_of(conn: &Connection) -> Result<Option<InstallationId>, StoreError> {
    let text: Option<String> = conn
        .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
        .query_row([KEY], |row| row.get(0))
        .optional()?;
    text.map(|text| parsed("installation id", text)).transpose()
}

/// Returns a new id that no other database has.
pub fn new_installation_id() -> InstallationId {
    InstallationId::parse(Uuid::new_v4().simple().to_string())
        .expect("a UUID has 32 hexadecimal digits")
}

impl Store {
    /// Returns the database's installation id; none before [`Store::adopt_installation`].
    ///
    /// # Errors
    /// When the database cannot be read, or the setting has another value.
    pub fn installation(&self) -> Result<Option<InstallationId>, StoreError> {
        installation_of(&self.conn)
    }

    /// Gives the database an id unless it has one, and returns its id. If several processes do so at once, the first
    /// one's id is kept.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn adopt_installation(
        &mut self,
        wanted: &InstallationId,
    ) -> Result<InstallationId, StoreError> {
        // By itself the statement could be stored without an answer from a server; a transaction says how it ended.
        self.repeat(|store| {
            let tx = store.conn.begin(Purpose::Write)?;
            tx.execute(
                "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![KEY, wanted.as_str()],
            )?;
            Ok(tx.commit()?)
        })?;
        Ok(self.installation()?.unwrap_or_else(|| wanted.clone()))
    }
}
