//! What a server says about itself, for whoever checks it.

use symphony_core::Timestamp;

use crate::database::open::Store;
use crate::error::StoreError;

/// What a server says about itself and the session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer of the server; they are independent"
)]
pub struct ServerFacts {
    /// Its version, as it shows it.
    pub version: String,
    /// Its version as a number: 150018 is 15.18.
    pub version_number: i64,
    /// The encoding of the database.
    pub encoding: String,
    /// Text columns that are not compared byte by byte.
    pub other_collations: Vec<String>,
    /// Those of Symphony's roles that the user belongs to.
    pub roles: Vec<String>,
    /// Whether the user may do everything on the server.
    pub is_superuser: bool,
    /// Whether the user may make tables in the schema.
    pub may_change_tables: bool,
    /// Whether the session is encrypted.
    pub is_encrypted: bool,
    /// Settings that let a committed write be lost in a crash, with their values.
    pub unsafe_settings: Vec<String>,
    /// How many connections users may have to the database at once.
    pub connections_max: i64,
    /// Whether it is a copy that only reads.
    pub is_standby: bool,
    /// How far its clock is ahead of this machine's, in milliseconds.
    pub clock_ahead_ms: i64,
}

/// Everything in one row.
const FACTS: &str = "SELECT current_setting('server_version') AS version,
    CAST(current_setting('server_version_num') AS bigint) AS version_number,
    CAST(pg_encoding_to_char(d.encoding) AS text) AS encoding,
    (SELECT string_agg(t.relname || '.' || a.attname, ' ' ORDER BY t.relname, a.attname)
     FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid JOIN pg_collation c ON c.oid = a.attcollation
     WHERE t.relnamespace = to_regnamespace(current_schema()) AND t.relkind = 'r' AND a.attnum > 0 AND c.collname <> 'C') AS collations,
    (SELECT string_agg(CAST(r.rolname AS text), ' ' ORDER BY r.rolname) FROM pg_roles r
     WHERE r.rolname IN ('symphony_owner', 'symphony_control', 'symphony_worker') AND pg_has_role(r.oid, 'MEMBER')) AS roles,
    (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) AS superuser,
    has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    coalesce((SELECT s.ssl FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid()), false) AS encrypted,
    (SELECT string_agg(s.name || ' = ' || s.setting, ', ' ORDER BY s.name) FROM pg_settings s
     WHERE s.name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND s.setting = 'off') AS unsafe,
    least(CAST(current_setting('max_connections') AS bigint) - CAST(current_setting('superuser_reserved_connections') AS bigint)
            - coalesce(CAST(current_setting('reserved_connections', true) AS bigint), 0),
        nullif(CAST(d.datconnlimit AS bigint), -1)) AS connections,
    pg_is_in_recovery() AS standby,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS clock
    FROM pg_database d WHERE d.datname = current_database()";

impl Store {
    /// Returns how far the clock of the server is ahead of this machine's, in milliseconds; `None` if the database is a file.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn clock_ahead_ms(&self) -> Result<Option<i64>, StoreError> {
        if self.conn.sqlite().is_some() {
            return Ok(None);
        }
        let mut statement = self
            .conn
            .prepare_cached("SELECT CAST(unixepoch('subsec') * 1000 AS BIGINT) AS clock")?;
        let before = Timestamp::now().as_millisecond();
        let clock: i64 = statement.query_row([], |row| row.get("clock"))?;
        let after = Timestamp::now().as_millisecond();
        // The server read its clock at some moment between the two.
        Ok(Some(if clock < before {
            clock - before
        } else {
            (clock - after).max(0)
        }))
    }

    /// Asks the server about itself; `None` if the database is a file.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn server_facts(&self) -> Result<Option<ServerFacts>, StoreError> {
        if self.conn.sqlite().is_some() {
            return Ok(None);
        }
        let mut statement = self.conn.prepare(FACTS)?;
        let before = Timestamp::now().as_millisecond();
        let facts = statement.query_row([], |row| {
            let clock: i64 = row.get("clock")?;
            let after = Timestamp::now().as_millisecond();
            let list = |text: Option<String>, separator: &str| -> Vec<String> {
                let text = text.unwrap_or_default();
                let parts = text.split(separator).filter(|part| !part.is_empty());
                parts.map(str::to_owned).collect()
            };
            Ok(ServerFacts {
                version: row.get("version")?,
                version_number: row.get("version_number")?,
                encoding: row.get("encoding")?,
                other_collations: list(row.get("collations")?, " "),
                roles: list(row.get("roles")?, " "),
                is_superuser: row.get("superuser")?,
                may_change_tables: row.get("may_create")?,
                is_encrypted: row.get("encrypted")?,
                unsafe_settings: list(row.get("unsafe")?, ", "),
                connections_max: row.get("connections")?,
                is_standby: row.get("standby")?,
                // The answer was written between the two.
                clock_ahead_ms: clock - i64::midpoint(before, after),
            })
        })?;
        Ok(Some(facts))
    }
}
