//! The schema and its history.

use rusqlite_migration::{M, Migrations};

/// The newest schema version that this build knows.
pub const SCHEMA_VERSION: i64 = 3;

/// Returns all migrations, oldest first.
pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("schema/0001_base.sql")),
        M::up(include_str!("schema/0002_learnings.sql")),
        M::up(include_str!("schema/0003_subtasks_health_coverage.sql")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_valid_and_counted() {
        migrations().validate().unwrap();
        let mut conn = rusqlite::Connection::open_in_memory().unwrap();
        migrations().to_latest(&mut conn).unwrap();
        let version: i64 = conn
            .query_row("PRAGMA user_version", [], |r| r.get(0))
            .unwrap();
        assert_eq!(version, SCHEMA_VERSION);
    }
}
