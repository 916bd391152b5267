//! Prepared statements.

use super::{DbError, Params, Row, Rows};

/// A prepared statement.
pub(crate) enum Statement<'c> {
    /// One of SQLite that is kept for the next time.
    Cached(rusqlite::CachedStatement<'c>),
    /// One of SQLite that is used once.
    Once(rusqlite::Statement<'c>),
}

impl<'c> Statement<'c> {
    fn sqlite(&mut self) -> &mut rusqlite::Statement<'c> {
        match self {
            Self::Cached(statement) => statement,
            Self::Once(statement) => statement,
        }
    }

    /// Runs it, and returns how many rows it changed.
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize, DbError> {
        let statement = self.sqlite();
        bind(statement, params)?;
        Ok(statement.raw_execute()?)
    }

    /// Runs it, and returns its rows.
    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>, DbError> {
        let statement = self.sqlite();
        bind(statement, params)?;
        Ok(Rows::Sqlite(statement.raw_query()))
    }

    /// Runs it, and reads its first row. [`super::Fault::NoRows`] when it has none.
    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let mut rows = self.query(params)?;
        let row = rows.next()?.ok_or_else(DbError::no_rows)?;
        read(&row)
    }

    /// Runs it, and reads each of its rows.
    pub(crate) fn query_map<T, F>(
        &mut self,
        params: impl Params,
        read: F,
    ) -> Result<MappedRows<'_, F>, DbError>
    where
        F: FnMut(&Row<'_>) -> Result<T, DbError>,
    {
        let rows = self.query(params)?;
        Ok(MappedRows { rows, read })
    }

    /// Returns whether it has a row.
    pub(crate) fn exists(&mut self, params: impl Params) -> Result<bool, DbError> {
        Ok(self.query(params)?.next()?.is_some())
    }

    /// Returns the names of its columns.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let names = match self {
            Self::Cached(statement) => statement.column_names(),
            Self::Once(statement) => statement.column_names(),
        };
        names.into_iter().map(str::to_owned).collect()
    }
}

/// Binds all values to a statement of SQLite.
fn bind(statement: &mut rusqlite::Statement<'_>, params: impl Params) -> Result<(), DbError> {
    let mut bound = 0;
    params.each(&mut |value| {
        bound += 1;
        Ok(statement.raw_bind_parameter(bound, value)?)
    })?;
    let expected = statement.parameter_count();
    if bound == expected {
        return Ok(());
    }
    Err(rusqlite::Error::InvalidParameterCount(bound, expected).into())
}

/// What is read of each row.
pub(crate) struct MappedRows<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl<T, F> Iterator for MappedRows<'_, F>
where
    F: FnMut(&Row<'_>) -> Result<T, DbError>,
{
    type Item = Result<T, DbError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rows.next() {
            Ok(row) => row.map(|row| (self.read)(&row)),
            Err(error) => Some(Err(error)),
        }
    }
}
