//! Rows of a query, read one after the other.

use rusqlite::types::{FromSql, ValueRef};

use super::DbError;

/// One row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row<'a> {
    /// The row at which a statement of SQLite is.
    Sqlite(&'a rusqlite::Row<'a>),
}

/// A column, by its number or its name.
pub(crate) trait Column: rusqlite::RowIndex {}

impl Column for usize {}
impl Column for &str {}

impl<'a> Row<'a> {
    /// Reads a column.
    pub(crate) fn get<C: Column, T: FromSql>(&self, column: C) -> Result<T, DbError> {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
        }
    }

    /// Returns a column's value without a copy of it.
    pub(crate) fn get_ref(&self, column: impl Column) -> Result<ValueRef<'a>, DbError> {
        match self {
            Self::Sqlite(row) => Ok(row.get_ref(column)?),
        }
    }
}

/// The rows of a query that are still to be read.
pub(crate) enum Rows<'s> {
    /// SQLite finds each when it is asked for.
    Sqlite(rusqlite::Rows<'s>),
}

impl Rows<'_> {
    /// Returns the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, DbError> {
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
        }
    }
}
