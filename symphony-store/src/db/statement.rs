//! Prepared statements.

use super::{DbError, Params, Row, Rows};

/// A prepared statement.
pub(crate) enum Statement<'c> {
    /// One of SQLite that is kept for the next time.
    Cached(rusqlite::CachedStatement<'c>),
    /// One of SQLite that is used once.
    Once(rusqlite::Statement<'c>),
    /// The text of one that is sent to PostgreSQL each time.
    #[cfg(feature = "postgres")]
    Sent(&'c super::postgres::Postgres, std::sync::Arc<str>),
}

impl Statement<'_> {
    /// Runs it, and returns how many rows it changed.
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize, DbError> {
        match self {
            Self::Cached(statement) => bound(statement, params)?.execute(),
            Self::Once(statement) => bound(statement, params)?.execute(),
            #[cfg(feature = "postgres")]
            Self::Sent(server, text) => server.execute(text, params),
        }
    }

    /// Runs it, and returns its rows.
    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>, DbError> {
        match self {
            Self::Cached(statement) => Ok(bound(statement, params)?.query()),
            Self::Once(statement) => Ok(bound(statement, params)?.query()),
            #[cfg(feature = "postgres")]
            Self::Sent(server, text) => Ok(Rows::Postgres(server.query(text, params)?, 0)),
        }
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
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unnecessary_wraps, reason = "PostgreSQL has to be asked")
    )]
    pub(crate) fn column_names(&self) -> Result<Vec<String>, DbError> {
        let names = match self {
            Self::Cached(statement) => statement.column_names(),
            Self::Once(statement) => statement.column_names(),
            #[cfg(feature = "postgres")]
            Self::Sent(server, text) => return server.column_names(text),
        };
        Ok(names.into_iter().map(str::to_owned).collect())
    }
}

/// A statement of SQLite whose values are bound.
struct Bound<'s, 'c>(&'s mut rusqlite::Statement<'c>);

impl<'s> Bound<'s, '_> {
    fn execute(self) -> Result<usize, DbError> {
        Ok(self.0.raw_execute()?)
    }

    fn query(self) -> Rows<'s> {
        Rows::Sqlite(self.0.raw_query())
    }
}

/// Binds all values to a statement of SQLite.
fn bound<'s, 'c>(
    statement: &'s mut rusqlite::Statement<'c>,
    params: impl Params,
) -> Result<Bound<'s, 'c>, DbError> {
    let mut bound = 0;
    params.each(&mut |value| {
        bound += 1;
        Ok(statement.raw_bind_parameter(bound, value)?)
    })?;
    let expected = statement.parameter_count();
    if bound != expected {
        return Err(rusqlite::Error::InvalidParameterCount(bound, expected).into());
    }
    Ok(Bound(statement))
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
