//! What a database holds that a person would miss, read from the current one or from a backup of any version.

use symphony_core::restore::Holdings;

use crate::database::backup::BackupFile;
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::Connection;
use crate::error::StoreError;

impl Store {
    /// Returns what the database holds.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn holdings(&self) -> Result<Holdings, StoreError> {
        holdings(&self.conn)
    }
}

impl BackupFile {
    /// Returns what the backup holds.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn holdings(&self) -> Result<Holdings, StoreError> {
        holdings(self.connection())
    }
}

fn holdings(conn: &Connection) -> Result<Holdings, StoreError> {
    let mut found = Holdings::default();
    let mut statement = conn.prepare("SELECT id, updated_at FROM issue")?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let id = parsed("issue id", row.get("id")?)?;
        found.issues.insert(id, row.get("updated_at")?);
    }
    let mut statement = conn.prepare("SELECT id FROM run")?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        found.runs.insert(parsed("run id", row.get("id")?)?);
    }
    // Backups of early versions have no plans.
    let has_plans = conn.tables()?.iter().any(|table| table == "plan");
    if has_plans {
        let mut statement = conn.prepare("SELECT id, revision FROM plan")?;
        let mut rows = statement.query([])?;
        while let Some(row) = &rows.next()? {
            let id = parsed("plan id", row.get("id")?)?;
            found.plans.insert(id, row.get("revision")?);
        }
    }
    let newest: Option<i64> = conn.query_row("SELECT max(at) FROM event", [], |row| row.get(0))?;
    found.newest = newest.map(time).transpose()?;
    Ok(found)
}
