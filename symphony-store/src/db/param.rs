//! Values that are bound to a statement, in the order of their numbers.

use rusqlite::types::ToSql;

use super::DbError;

/// What may be bound to a statement.
pub(crate) trait Params {
    /// Shows each value in turn.
    fn each(self, bind: &mut dyn FnMut(&dyn ToSql) -> Result<(), DbError>) -> Result<(), DbError>;
}

impl Params for &[&dyn ToSql] {
    fn each(self, bind: &mut dyn FnMut(&dyn ToSql) -> Result<(), DbError>) -> Result<(), DbError> {
        self.iter().try_for_each(|value| bind(*value))
    }
}

/// No value: the type lets `[]` be written.
impl Params for [&(dyn ToSql + Send + Sync); 0] {
    fn each(self, _bind: &mut dyn FnMut(&dyn ToSql) -> Result<(), DbError>) -> Result<(), DbError> {
        Ok(())
    }
}

/// Values of one type. Each length is named, as the empty one has a type of its own.
macro_rules! arrays {
    ($($length:literal)*) => {$(
        impl<T: ToSql> Params for [T; $length] {
            fn each(
                self,
                bind: &mut dyn FnMut(&dyn ToSql) -> Result<(), DbError>,
            ) -> Result<(), DbError> {
                self.iter().try_for_each(|value| bind(value))
            }
        }
    )*};
}

arrays!(1 2 3 4 5 6);

/// Values of which only an iterator is there.
pub(crate) struct FromIter<I>(I);

/// Returns parameters of an iterator's values.
pub(crate) fn params_from_iter<I>(values: I) -> FromIter<I>
where
    I: IntoIterator,
    I::Item: ToSql,
{
    FromIter(values)
}

impl<I> Params for FromIter<I>
where
    I: IntoIterator,
    I::Item: ToSql,
{
    fn each(self, bind: &mut dyn FnMut(&dyn ToSql) -> Result<(), DbError>) -> Result<(), DbError> {
        self.0.into_iter().try_for_each(|value| bind(&value))
    }
}
