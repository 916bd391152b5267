//! Who else works with a database on a server.

use crate::database::open::Store;
use crate::db::DbError;
use crate::error::StoreError;

impl Store {
    /// Returns the server's process ids of the other sessions that use the same tables; none for a file.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn other_sessions(&self) -> Result<Vec<i64>, StoreError> {
        if self.conn.sqlite().is_some() {
            return Ok(Vec::new());
        }
        let mut statement = self.conn.prepare(
            "SELECT CAST(pid AS bigint) FROM pg_stat_activity WHERE application_name = current_setting('application_name')
             AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1",
        )?;
        let pids = statement.query_map([], |row| row.get(0))?;
        Ok(pids.collect::<Result<_, DbError>>()?)
    }
}
