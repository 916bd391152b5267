//! The tables of a server (I18): whether what keeps them whole is in force, and whether every reference has its row.
//!
//! A server checks references when rows are written, but not those of a copy or a dump, which are written with its triggers at rest.

use symphony_core::invariant::{Invariant, Violation};

use crate::db::Connection;
use crate::error::StoreError;

/// What is switched off, with the name of its table.
const OFF: &str = "SELECT 'the index ' || CAST(i.relname AS text) || ' is invalid, so it keeps nothing unique', CAST(t.relname AS text)
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
    WHERE NOT x.indisvalid AND t.relnamespace = to_regnamespace(quote_ident(current_schema()))
    UNION ALL
    SELECT 'the trigger ' || CAST(g.tgname AS text) || ' is disabled', CAST(t.relname AS text)
    FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
    WHERE g.tgenabled = 'D' AND t.relnamespace = to_regnamespace(quote_ident(current_schema()))
    ORDER BY 2, 1";

/// Each reference between tables: the two, what is equal in both rows, and what is not NULL in the row that refers.
const REFERENCES: &str = "SELECT CAST(t.relname AS text) AS child, CAST(p.relname AS text) AS parent,
    string_agg(format('c.%I = p.%I', a.attname, b.attname), ' AND ' ORDER BY k.n) AS equal,
    string_agg(format('c.%I IS NOT NULL', a.attname), ' AND ' ORDER BY k.n) AS set
    FROM pg_constraint r JOIN pg_class t ON t.oid = r.conrelid JOIN pg_class p ON p.oid = r.confrelid
    CROSS JOIN LATERAL unnest(r.conkey, r.confkey) WITH ORDINALITY AS k(own, other, n)
    JOIN pg_attribute a ON a.attrelid = r.conrelid AND a.attnum = k.own
    JOIN pg_attribute b ON b.attrelid = r.confrelid AND b.attnum = k.other
    WHERE r.contype = 'f' AND t.relnamespace = to_regnamespace(quote_ident(current_schema()))
    GROUP BY r.oid, t.relname, p.relname ORDER BY 1, 2, 3";

/// Checks the tables.
pub(super) fn check(conn: &Connection, found: &mut Vec<Violation>) -> Result<(), StoreError> {
    let mut statement = conn.prepare(OFF)?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let (problem, table): (String, String) = (row.get(0)?, row.get(1)?);
        found.push(Violation::new(Invariant::I18, table, problem));
    }
    let mut statement = conn.prepare(REFERENCES)?;
    let mut rows = statement.query([])?;
    while let Some(row) = &rows.next()? {
        let (child, parent): (String, String) = (row.get("child")?, row.get("parent")?);
        let (equal, set): (String, String) = (row.get("equal")?, row.get("set")?);
        let lost = format!(
            "SELECT count(*) FROM \"{child}\" c WHERE {set} AND NOT EXISTS (SELECT 1 FROM \"{parent}\" p WHERE {equal})"
        );
        let lost: i64 = conn.query_row(&lost, [], |row| row.get(0))?;
        if lost > 0 {
            let rows = if lost == 1 { "row names" } else { "rows name" };
            let detail = format!("{lost} {rows} a row of {parent} that does not exist");
            found.push(Violation::new(Invariant::I18, child, detail));
        }
    }
    Ok(())
}
