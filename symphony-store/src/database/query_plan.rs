//! How SQLite would run a query. Tests check that queries on hot paths use their indexes.

use crate::db::Connection;

/// Returns the steps of the query's plan in their order. Parameters stay unbound, since the plan does not depend on
/// them.
pub(crate) fn query_plan(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn
        .sqlite()
        .unwrap()
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get("detail").unwrap());
    }
    steps
}
