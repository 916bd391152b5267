//! Rows of a query, read one after the other.

use rusqlite::types::{FromSql, ValueRef};

use super::DbError;

/// One row.
#[derive(Debug)]
pub(crate) enum Row<'a> {
    /// The row at which a statement of SQLite is.
    Sqlite(&'a rusqlite::Row<'a>),
    /// A row that PostgreSQL has sent.
    #[cfg(feature = "postgres")]
    Postgres(&'a tokio_postgres::Row),
}

/// A column, by its number or its name.
pub(crate) trait Column: rusqlite::RowIndex {
    /// Returns its number in a row of PostgreSQL.
    #[cfg(feature = "postgres")]
    fn number(self, row: &tokio_postgres::Row) -> Result<usize, DbError>;
}

impl Column for usize {
    #[cfg(feature = "postgres")]
    fn number(self, _row: &tokio_postgres::Row) -> Result<usize, DbError> {
        Ok(self)
    }
}

impl Column for &str {
    #[cfg(feature = "postgres")]
    fn number(self, row: &tokio_postgres::Row) -> Result<usize, DbError> {
        let mut columns = row.columns().iter();
        let found = columns.position(|column| column.name() == self);
        found.ok_or_else(|| rusqlite::Error::InvalidColumnName(self.to_owned()).into())
    }
}

impl<'a> Row<'a> {
    /// Reads a column.
    pub(crate) fn get<C: Column, T: FromSql>(&self, column: C) -> Result<T, DbError> {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => {
                let number = column.number(row)?;
                let value = super::postgres::column(row, number)?;
                T::column_result(value).map_err(|error| {
                    let kind = value.data_type();
                    rusqlite::Error::FromSqlConversionFailure(number, kind, Box::new(error)).into()
                })
            }
        }
    }

    /// Returns a column's value without a copy of it.
    pub(crate) fn get_ref(&self, column: impl Column) -> Result<ValueRef<'a>, DbError> {
        match self {
            Self::Sqlite(row) => Ok(row.get_ref(column)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => super::postgres::column(row, column.number(row)?),
        }
    }
}

/// The rows of a query that are still to be read.
pub(crate) enum Rows<'s> {
    /// SQLite finds each when it is asked for.
    Sqlite(rusqlite::Rows<'s>),
    /// PostgreSQL has sent all; this is the number of the next.
    #[cfg(feature = "postgres")]
    Postgres(Vec<tokio_postgres::Row>, usize),
}

impl Rows<'_> {
    /// Returns the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, DbError> {
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            #[cfg(feature = "postgres")]
            Self::Postgres(rows, next) => {
                let row = rows.get(*next);
                *next += 1;
                Ok(row.map(Row::Postgres))
            }
        }
    }
}
