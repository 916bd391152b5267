//! The highest number that each table gave out: a copy continues from there, even if the newest rows were removed.

use std::collections::BTreeMap;

use crate::db::{Connection, DbError, OptionalExtension, params};
use crate::error::StoreError;

/// Tables whose numbers are never used twice, each with the column of the number.
const NUMBERED: &str = "SELECT CAST(c.relname AS text), CAST(a.attname AS text) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = to_regnamespace(current_schema()) AND a.attidentity <> '' ORDER BY 1";

/// Returns the highest number that each table gave out, by the table.
pub(crate) fn highest_numbers(conn: &Connection) -> Result<BTreeMap<String, i64>, StoreError> {
    if conn.sqlite().is_some() {
        let mut statement = conn.prepare("SELECT name, seq FROM sqlite_sequence")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        return Ok(rows.collect::<Result<_, DbError>>()?);
    }
    let mut highest = BTreeMap::new();
    for (table, column) in numbered(conn)? {
        let sequence = sequence_of(conn, &table, &column)?;
        let sql = format!("SELECT last_value FROM {sequence} WHERE is_called");
        let number: Option<i64> = conn.query_row(&sql, [], |row| row.get(0)).optional()?;
        if let Some(number) = number {
            highest.insert(table, number);
        }
    }
    Ok(highest)
}

/// Lets each table go on after a number, or after its own highest one.
pub(crate) fn set_highest(
    conn: &Connection,
    highest: &BTreeMap<String, i64>,
) -> Result<(), StoreError> {
    if conn.sqlite().is_some() {
        for (table, number) in highest {
            // A table that never had a number of its own has no row, and gets none by the rows that were inserted.
            let is_numbered = conn
                .prepare(
                    "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'",
                )?
                .exists([table.as_str()])?;
            if is_numbered {
                conn.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [table])?;
                conn.execute(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)",
                    params![table, number],
                )?;
            }
        }
        return Ok(());
    }
    for (table, column) in numbered(conn)? {
        let sql = format!("SELECT coalesce(max(\"{column}\"), 0) FROM {table}");
        let in_rows: i64 = conn.query_row(&sql, [], |row| row.get(0))?;
        let number = in_rows.max(highest.get(&table).copied().unwrap_or(0));
        if number > 0 {
            let sequence = sequence_of(conn, &table, &column)?;
            let sql = format!("SELECT setval('{sequence}', ?1)");
            let _set: i64 = conn.query_row(&sql, [number], |row| row.get(0))?;
        }
    }
    Ok(())
}

fn numbered(conn: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let mut statement = conn.prepare(NUMBERED)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, DbError>>()?)
}

fn sequence_of(conn: &Connection, table: &str, column: &str) -> Result<String, StoreError> {
    Ok(conn.query_row(
        "SELECT pg_get_serial_sequence(?1, ?2)",
        [table, column],
        |row| row.get(0),
    )?)
}
