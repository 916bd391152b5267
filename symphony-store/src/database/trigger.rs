//! Triggers that rest while a copy is written: they count and derive what the rows of a copy already hold.

use crate::db::{Connection, DbError};
use crate::error::StoreError;

/// The triggers of tables that rest.
#[derive(Debug)]
pub(crate) enum Suspended {
    /// They were dropped; these statements make them again.
    Dropped(Vec<String>),
    /// They are disabled on these tables.
    Disabled(Vec<String>),
}

impl Suspended {
    /// Lets the triggers of tables rest, in the caller's transaction.
    pub(crate) fn suspend(conn: &Connection, tables: &[String]) -> Result<Self, StoreError> {
        if conn.sqlite().is_none() {
            for table in tables {
                conn.execute_batch(&format!("ALTER TABLE {table} DISABLE TRIGGER USER"))?;
            }
            return Ok(Self::Disabled(tables.to_vec()));
        }
        let mut statement = conn
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(String, String)> = found.collect::<Result<_, DbError>>()?;
        drop(statement);
        for (name, _) in &found {
            conn.execute_batch(&format!("DROP TRIGGER {name}"))?;
        }
        Ok(Self::Dropped(
            found.into_iter().map(|(_, sql)| sql).collect(),
        ))
    }

    /// Puts the triggers back.
    pub(crate) fn resume(self, conn: &Connection) -> Result<(), StoreError> {
        match self {
            Self::Dropped(triggers) => {
                for sql in triggers {
                    conn.execute_batch(&sql)?;
                }
            }
            Self::Disabled(tables) => {
                // A table with checks that are still due cannot be altered.
                conn.execute_batch("SET CONSTRAINTS ALL IMMEDIATE")?;
                for table in tables {
                    conn.execute_batch(&format!("ALTER TABLE {table} ENABLE TRIGGER USER"))?;
                }
            }
        }
        Ok(())
    }
}
