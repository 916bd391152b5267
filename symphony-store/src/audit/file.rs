//! The file itself: complete, with all references, and with a known schema (I18).

use symphony_core::invariant::{Invariant, Violation};

use crate::database::migration::SCHEMA_VERSION;
use crate::db::Connection;
use crate::error::StoreError;

/// How many complaints of SQLite are reported. More of a damaged file would not help.
const COMPLAINTS_MAX: u32 = 20;

/// Checks SQLite's file, or the tables on a server, which checks its own files.
pub(crate) fn check(conn: &Connection, found: &mut Vec<Violation>) -> Result<(), StoreError> {
    if conn.sqlite().is_none() {
        return super::server::check(conn, found);
    }
    let version: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version != SCHEMA_VERSION {
        let detail =
            format!("its schema version is {version}, but this Symphony supports {SCHEMA_VERSION}");
        found.push(Violation::new(Invariant::I18, "database", detail));
    }
    let mut statement = conn.prepare(&format!("PRAGMA integrity_check({COMPLAINTS_MAX})"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let complaint: String = row.get(0)?;
        if complaint != "ok" {
            found.push(Violation::new(Invariant::I18, "database", complaint));
        }
    }
    let mut statement =
        conn.prepare("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let (table, id, parent): (String, Option<i64>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        let detail = format!("names a row of {parent} that does not exist");
        found.push(Violation::new(
            Invariant::I18,
            format!("{table}{id}"),
            detail,
        ));
    }
    Ok(())
}
