//! The tables on a server: made once by their owner, and changed only by `symphony db init`.
//!
//! An ordinary command changes no tables there. Several hosts use them, and the first one with a newer Symphony would lock out all
//! others in the middle of their work.

use std::fmt::Write as _;

use tokio_postgres::Error;
use tokio_postgres::types::{FromSql, ToSql, Type};

use super::SchemaChange;
use crate::database::migration::SCHEMA_VERSION;
use crate::db::postgres::{Client, quoted};

/// The version that `base.sql` makes.
const BASE_VERSION: i64 = 43;
/// What brings the tables to each later version.
const MIGRATIONS: &[(i64, &str)] = &[
    (44, include_str!("../schema/postgres/0044_workers.sql")),
    (45, include_str!("../schema/postgres/0045_large.sql")),
    (
        46,
        include_str!("../schema/postgres/0046_worker_clocks.sql"),
    ),
    (47, include_str!("../schema/postgres/0047_unprepared.sql")),
    (48, include_str!("../schema/postgres/0048_run_spending.sql")),
    (49, include_str!("../schema/postgres/0049_hosts_lost.sql")),
    (
        50,
        include_str!("../schema/postgres/0050_idle_dependencies.sql"),
    ),
    (51, include_str!("../schema/postgres/0051_awaited.sql")),
    (52, include_str!("../schema/postgres/0052_slots.sql")),
    (
        53,
        include_str!("../schema/postgres/0053_worker_folders.sql"),
    ),
];
/// The tables, and the functions of SQLite that the store's statements use.
const BASE: &str = concat!(
    include_str!("../schema/postgres/functions.sql"),
    include_str!("../schema/postgres/base.sql"),
    include_str!("../schema/postgres/session.sql"),
    include_str!("../schema/postgres/version.sql"),
);
/// What each role may do. Roles that do not exist are left out.
const ROLES: &str = include_str!("../schema/postgres/roles.sql");
/// The role that owns the tables, where there is one and the user belongs to it.
const OWNER: &str = "symphony_owner";

/// What is in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No tables.
    Nothing,
    /// Tables, but not Symphony's.
    Other,
    /// Symphony's tables in this version.
    Version(i64),
    /// Symphony's tables, which the user does not own and so may not change.
    OfOthers,
}

/// Looks at what is in a schema.
pub(super) fn look(client: &Client, schema: &str) -> Result<Found, Error> {
    let table = format!("{}.schema_version", quoted(schema));
    if one(client, "SELECT to_regclass($1) IS NOT NULL", &[&table])? == Some(true) {
        let newest = format!("SELECT max(version) FROM {table}");
        let version = one::<Option<i64>>(client, &newest, &[])?.flatten();
        return Ok(version.map_or(Found::Other, Found::Version));
    }
    let any = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1)";
    Ok(match one(client, any, &[&schema])? {
        Some(true) => Found::Other,
        _ => Found::Nothing,
    })
}

/// Returns the first value of the first row.
fn one<T: for<'r> FromSql<'r>>(
    client: &Client,
    sql: &str,
    texts: &[&(dyn ToSql + Sync)],
) -> Result<Option<T>, Error> {
    let typed: Vec<_> = texts.iter().map(|text| (*text, Type::TEXT)).collect();
    let rows = client.query_typed(sql, &typed)?;
    rows.first().map(|row| row.try_get(0)).transpose()
}

/// Makes all tables in an empty schema, or brings Symphony's to the newest version, and sets what the roles may do: all of it, or
/// nothing, because the server undoes what the client leaves unfinished. Another program's tables are left alone.
pub(super) fn prepare(client: &Client, schema: &str) -> Result<(Found, SchemaChange), Error> {
    client.batch_execute("BEGIN")?;
    // Two that begin at once would both find nothing.
    client.query_typed(
        "SELECT pg_advisory_xact_lock(hashtextextended('symphony schema ' || $1, 0))",
        &[(&schema, Type::TEXT)],
    )?;
    let found = look(client, schema)?;
    if found == Found::Other {
        return Ok((found, SchemaChange::Unchanged));
    }
    if found != Found::Nothing && !is_owner(client, schema)? {
        return Ok((Found::OfOthers, SchemaChange::Unchanged));
    }
    let member = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1 AND pg_has_role(oid, 'MEMBER'))";
    let has_owner = one(client, member, &[&OWNER])? == Some(true);
    let owner = if has_owner { OWNER } else { "CURRENT_USER" };
    let schema = quoted(schema);
    let change = match found {
        Found::Version(from) if from < SCHEMA_VERSION => SchemaChange::Migrated { from },
        Found::Version(_) | Found::Other | Found::OfOthers => SchemaChange::Unchanged,
        Found::Nothing => SchemaChange::Created,
    };
    if change == SchemaChange::Created {
        let make = format!("CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {owner}");
        client.batch_execute(&make)?;
    }
    if has_owner {
        client.batch_execute(&format!("SET LOCAL ROLE {owner}"))?;
    }
    client.batch_execute(&format!("SET LOCAL search_path TO {schema}"))?;
    client.batch_execute(&match change {
        SchemaChange::Created => creation(),
        SchemaChange::Migrated { from } => migration(from),
        SchemaChange::Unchanged => String::new(),
    })?;
    client.batch_execute(ROLES)?;
    client.batch_execute("COMMIT")?;
    Ok((found, change))
}

/// Returns whether the user may act as the owner of a schema: to others PostgreSQL only warns that a grant had no effect.
fn is_owner(client: &Client, schema: &str) -> Result<bool, Error> {
    let owner = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1 AND pg_has_role(nspowner, 'MEMBER'))";
    Ok(one(client, owner, &[&schema])? == Some(true))
}

/// Returns the statements that make all tables of the newest version in the schema that is searched first.
pub(crate) fn creation() -> String {
    let mut sql = BASE.to_owned();
    record(&mut sql, BASE_VERSION);
    sql.push_str(&migration(BASE_VERSION));
    sql
}

fn migration(from: i64) -> String {
    let mut sql = String::new();
    for (version, text) in MIGRATIONS.iter().filter(|(version, _)| *version > from) {
        sql.push_str(text);
        record(&mut sql, *version);
    }
    sql
}

fn record(sql: &mut String, version: i64) {
    let _written = write!(
        sql,
        ";\nINSERT INTO schema_version (version) VALUES ({version});\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_after_the_base_has_its_file() {
        let mut newest = BASE_VERSION;
        for (version, _) in MIGRATIONS {
            newest += 1;
            assert_eq!(*version, newest);
        }
        assert_eq!(
            newest, SCHEMA_VERSION,
            "a change of the schema is two files"
        );
    }
}
