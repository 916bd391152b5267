//! The tables on a server are those that SQLite's migrations leave: a change of the schema is two files, and this compares them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use symphony_store::Store;

use crate::plain_client::PlainClient;
use crate::server::{address, schema};

/// What a database engine knows of a table.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Each column with its type, and whether it may be NULL.
    columns: BTreeMap<String, (String, bool)>,
    primary_key: Vec<String>,
    /// The columns of each unique index or constraint, with its predicate.
    unique: BTreeSet<(String, String)>,
    /// Each reference: its columns, and the table that it names.
    references: BTreeSet<(String, String)>,
}

type Tables = BTreeMap<String, Table>;

/// Leaves of an expression what is the same for both engines: no casts, parentheses or collations.
fn plain(expression: &str) -> String {
    let lower = expression.to_lowercase();
    let lower = lower.replace("::text", "").replace("::bigint", "");
    // PostgreSQL writes a list of values as an array
    let lower = lower
        .replace("<> all (array[", "not in (")
        .replace("= any (array[", "in (")
        .replace("])", ")");
    lower
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '"'))
        .collect()
}

fn of_sqlite() -> Tables {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(Store::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();
    let names = texts(
        &conn,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'issue_count'",
    );
    names
        .into_iter()
        .map(|name| {
            let table = table_of_sqlite(&conn, &name);
            (name, table)
        })
        .collect()
}

fn texts(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn table_of_sqlite(conn: &Connection, name: &str) -> Table {
    let mut table = Table::default();
    let sql = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY pk";
    let mut statement = conn.prepare(sql).unwrap();
    let mut rows = statement.query([name]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let column: String = row.get(0).unwrap();
        let kind: String = row.get(1).unwrap();
        let (not_null, key): (bool, i64) = (row.get(2).unwrap(), row.get(3).unwrap());
        if key > 0 {
            table.primary_key.push(column.clone());
        }
        table.columns.insert(column, (kind, !not_null && key == 0));
    }
    let indexes = texts(
        conn,
        &format!(
            "SELECT name FROM pragma_index_list('{name}') WHERE \"unique\" AND origin <> 'pk'"
        ),
    );
    for index in indexes {
        let columns = texts(
            conn,
            &format!(
                "SELECT coalesce(name, '()') FROM pragma_index_info('{index}') ORDER BY seqno"
            ),
        );
        let sql = texts(
            conn,
            &format!("SELECT coalesce(sql, '') FROM sqlite_schema WHERE name = '{index}'"),
        );
        let predicate = sql
            .first()
            .and_then(|sql| sql.split_once("WHERE"))
            .map(|(_, after)| plain(after));
        table
            .unique
            .insert((columns.join(","), predicate.unwrap_or_default()));
    }
    let references = texts(
        conn,
        &format!(
            "SELECT group_concat(\"from\", ',') || ' ' || \"table\" FROM
             (SELECT * FROM pragma_foreign_key_list('{name}') ORDER BY id, seq) GROUP BY id"
        ),
    );
    for reference in references {
        let (columns, of) = reference.split_once(' ').unwrap();
        table.references.insert((columns.to_owned(), of.to_owned()));
    }
    table
}

/// PostgreSQL's name of a type as SQLite has it.
fn kind(name: &str) -> String {
    match name {
        "bigint" => "INTEGER",
        "double precision" => "REAL",
        "bytea" => "BLOB",
        other => return other.to_uppercase(),
    }
    .to_owned()
}

fn of_postgresql() -> Tables {
    let name = schema();
    let address = address(&format!("schema={name}"));
    Store::prepare_on(&address).unwrap();
    let client = PlainClient::connect(&address);
    let mut tables = Tables::new();
    let columns = client
        .query(
            "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns
             WHERE table_schema = $1 AND table_name NOT IN ('schema_version', 'engine_session', 'issue_count', 'idle_dependency', 'awaited_issue')",
            &[&name],
        )
        .unwrap();
    for row in columns {
        let table = tables.entry(row.get(0)).or_default();
        let of: String = row.get(2);
        table.columns.insert(row.get(1), (kind(&of), row.get(3)));
    }
    let indexes = client
        .query(
            "SELECT t.relname::text, i.indisprimary,
                    (SELECT string_agg(coalesce(a.attname::text, '()'), ',' ORDER BY k.at) FROM unnest(i.indkey) WITH ORDINALITY k (number, at)
                     LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number AND k.number > 0),
                    coalesce(pg_get_expr(i.indpred, t.oid), '')
             FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
             WHERE n.nspname = $1 AND i.indisunique AND t.relname NOT IN ('schema_version', 'engine_session')",
            &[&name],
        )
        .unwrap();
    for row in indexes {
        let table = tables.entry(row.get(0)).or_default();
        let (columns, predicate): (String, String) = (row.get(2), row.get(3));
        if row.get(1) {
            table.primary_key = columns.split(',').map(str::to_owned).collect();
        } else {
            table.unique.insert((columns, plain(&predicate)));
        }
    }
    let references = client
        .query(
            "SELECT t.relname::text, o.relname::text,
                    (SELECT string_agg(a.attname::text, ',' ORDER BY k.at) FROM unnest(c.conkey) WITH ORDINALITY k (number, at)
                     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number)
             FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class o ON o.oid = c.confrelid
             JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND c.contype = 'f'",
            &[&name],
        )
        .unwrap();
    for row in references {
        let table = tables.entry(row.get(0)).or_default();
        table.references.insert((row.get(2), row.get(1)));
    }
    tables
}

#[test]
fn both_engines_have_the_same_tables() {
    let (mut sqlite, mut postgresql) = (of_sqlite(), of_postgresql());
    for tables in [&mut sqlite, &mut postgresql] {
        for table in tables.values_mut() {
            table.primary_key.sort();
        }
    }
    let names = |tables: &Tables| tables.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&sqlite), names(&postgresql));
    let partial = sqlite.values().flat_map(|table| &table.unique);
    let partial = partial.filter(|(_, predicate)| !predicate.is_empty());
    assert!(partial.count() > 3, "predicates are compared");
    for (name, table) in &sqlite {
        assert_eq!(table, &postgresql[name], "table {name}");
    }
}

#[test]
fn every_text_is_compared_byte_by_byte() {
    let name = schema();
    let address = address(&format!("schema={name}"));
    Store::prepare_on(&address).unwrap();
    let others = PlainClient::connect(&address)
        .query(
            "SELECT table_name || '.' || column_name FROM information_schema.columns
             WHERE table_schema = $1 AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'",
            &[&name],
        )
        .unwrap();
    let others: Vec<String> = others.iter().map(|row| row.get(0)).collect();
    assert_eq!(others, [""; 0]);
}
