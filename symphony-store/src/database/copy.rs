//! The whole database from one engine to the other: every table in one transaction of the target, with a check of what arrived.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::database::open::Store;
use crate::database::sequence::{highest_numbers, set_highest};
use crate::database::trigger::Suspended;
use crate::db::{Connection, DbError, Purpose, Row, SqlValue, Transaction, params_from_iter};
use crate::error::StoreError;

/// Rows of one `INSERT`.
const ROWS_MAX: usize = 100;
/// The table that is made with a row: the totals of the service, at zero.
const WITH_A_ROW: &str = "service_total";
/// Values of one `INSERT`: SQLite binds 32,766 at most.
const VALUES_MAX: usize = 30_000;

/// A table that was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// The sum of its rows' hashes, which both databases have.
    pub checksum: u128,
}

impl Store {
    /// Copies everything into an empty database and checks that it arrived. The target keeps nothing if anything fails.
    ///
    /// # Errors
    /// When runs are active, the target is not empty, has other tables, cannot be written, or holds something else afterwards.
    pub fn copy_to(&mut self, target: &mut Self) -> Result<Vec<CopiedTable>, StoreError> {
        let source = self.conn.begin(Purpose::Read)?;
        let target = target.conn.begin(Purpose::Write)?;
        for side in [&source, &target] {
            side.without_time_limits()?;
        }
        refuse_live_runs(&source)?;
        let tables = source.tables()?;
        refuse_other_tables(&tables, &target)?;
        let suspended = Suspended::suspend(&target, &tables)?;
        target.defer_references()?;
        target.execute(&format!("DELETE FROM {WITH_A_ROW}"), [])?;
        let mut sums = BTreeMap::new();
        for table in &tables {
            let columns = columns_of(&source, &target, table)?;
            sums.insert(
                table.clone(),
                copy_table(&source, &target, table, &columns)?,
            );
        }
        set_highest(&target, &highest_numbers(&source)?)?;
        suspended.resume(&target)?;
        count_issues(&target)?;
        let mut copied = Vec::new();
        for (name, expected) in sums {
            let columns = columns_of(&source, &target, &name)?;
            let found = sum_of(&target, &name, &columns)?;
            if found != expected {
                return Err(StoreError::refused(format!(
                    "the copy of table `{name}` differs: {} of {} rows, or other contents; nothing was copied",
                    found.rows, expected.rows
                )));
            }
            copied.push(CopiedTable {
                name,
                rows: found.rows,
                checksum: found.checksum,
            });
        }
        target.commit()?;
        Ok(copied)
    }
}

/// Counts the issues of a file, whose triggers did not see them come. A server counts when it is asked.
fn count_issues(target: &Transaction<'_>) -> Result<(), StoreError> {
    if target.sqlite().is_some() {
        target.execute_batch(
            "DELETE FROM issue_count;
             INSERT INTO issue_count (project, status, n) SELECT project, status, count(*) FROM issue GROUP BY project, status",
        )?;
    }
    Ok(())
}

fn refuse_live_runs(source: &Transaction<'_>) -> Result<(), StoreError> {
    let live: i64 = source.query_row(
        "SELECT count(*) FROM run WHERE status IN ('starting', 'running')",
        [],
        |row| row.get(0),
    )?;
    if live == 0 {
        return Ok(());
    }
    let runs = if live == 1 { "run is" } else { "runs are" };
    Err(StoreError::refused(format!(
        "{live} {runs} active, and would still write to the old database: wait until they have ended (`symphony runs list`)"
    )))
}

/// Refuses a target that has rows, or not the same tables.
fn refuse_other_tables(tables: &[String], target: &Transaction<'_>) -> Result<(), StoreError> {
    if target.tables()? != tables {
        return Err(StoreError::refused(
            "the two databases have different tables: they come from different versions of Symphony",
        ));
    }
    for table in tables.iter().filter(|table| *table != WITH_A_ROW) {
        let sql = format!("SELECT 1 FROM {table} LIMIT 1");
        if target.prepare(&sql)?.exists([])? {
            return Err(StoreError::refused(format!(
                "the target is not empty (table `{table}` has rows): name one that has no tables yet"
            )));
        }
    }
    Ok(())
}

/// Returns the columns of a table in their order by name.
fn columns_of(
    source: &Transaction<'_>,
    target: &Transaction<'_>,
    table: &str,
) -> Result<Vec<String>, StoreError> {
    let read = |conn: &Connection| -> Result<Vec<String>, DbError> {
        let mut names = conn
            .prepare(&format!("SELECT * FROM {table} LIMIT 0"))?
            .column_names()?;
        names.sort();
        Ok(names)
    };
    let columns = read(source)?;
    if read(target)? == columns {
        Ok(columns)
    } else {
        Err(StoreError::refused(format!(
            "table `{table}` has other columns in the target"
        )))
    }
}

/// The rows of a table, and the sum of their hashes: the same in whatever order they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    checksum: u128,
}

impl Sum {
    fn add(&mut self, values: &[SqlValue]) {
        let mut hash = Sha256::new();
        for value in values {
            let (kind, bytes) = match value {
                SqlValue::Null => (0_u8, Vec::new()),
                SqlValue::Integer(number) => (1, number.to_be_bytes().to_vec()),
                SqlValue::Real(number) => (2, number.to_bits().to_be_bytes().to_vec()),
                SqlValue::Text(text) => (3, text.as_bytes().to_vec()),
                SqlValue::Blob(bytes) => (4, bytes.clone()),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        let first = hash.finalize();
        let part = first.iter().take(16);
        let number = part.fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(number);
    }
}

fn select(table: &str, columns: &[String]) -> String {
    format!("SELECT {} FROM {table}", listed(columns))
}

/// Names that are words of SQL in one of the engines are quoted.
fn listed(columns: &[String]) -> String {
    format!("\"{}\"", columns.join("\", \""))
}

fn sum_of(conn: &Connection, table: &str, columns: &[String]) -> Result<Sum, StoreError> {
    let mut sum = Sum::default();
    let mut statement = conn.prepare(&select(table, columns))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        sum.add(&values_of(&row, columns.len())?);
    }
    Ok(sum)
}

fn copy_table(
    source: &Connection,
    target: &Connection,
    table: &str,
    columns: &[String],
) -> Result<Sum, StoreError> {
    let at_once = (VALUES_MAX / columns.len().max(1)).clamp(1, ROWS_MAX);
    let mut sum = Sum::default();
    let mut waiting = Vec::new();
    let mut statement = source.prepare(&select(table, columns))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let values = values_of(&row, columns.len())?;
        sum.add(&values);
        waiting.push(values);
        if waiting.len() == at_once {
            insert(target, table, columns, std::mem::take(&mut waiting))?;
        }
    }
    if !waiting.is_empty() {
        insert(target, table, columns, waiting)?;
    }
    Ok(sum)
}

fn insert(
    target: &Connection,
    table: &str,
    columns: &[String],
    rows: Vec<Vec<SqlValue>>,
) -> Result<(), StoreError> {
    let row = format!("({})", vec!["?"; columns.len()].join(", "));
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES {}",
        listed(columns),
        vec![row.as_str(); rows.len()].join(", ")
    );
    let values = rows.into_iter().flatten();
    target
        .prepare_cached(&sql)?
        .execute(params_from_iter(values))?;
    Ok(())
}

/// Reads a row. A zero byte in a text, which PostgreSQL does not keep, becomes what it is written as there.
fn values_of(row: &Row<'_>, columns: usize) -> Result<Vec<SqlValue>, StoreError> {
    (0..columns)
        .map(|column| {
            Ok(match row.get(column)? {
                SqlValue::Text(text) if text.contains('\0') => {
                    SqlValue::Text(text.replace('\0', "\u{fffd}"))
                }
                value => value,
            })
        })
        .collect()
}
