//! Values on their way to PostgreSQL and back.

use std::error::Error;

use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::db::{DbError, Params};

/// A value of a parameter.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    /// Takes the values of all parameters.
    pub(super) fn all(params: impl Params) -> Result<Vec<Self>, DbError> {
        let mut all = Vec::new();
        params.each(&mut |value| {
            all.push(Self::of(value)?);
            Ok(())
        })?;
        Ok(all)
    }

    fn of(value: &dyn rusqlite::types::ToSql) -> Result<Self, DbError> {
        let output = value.to_sql()?;
        let value = match &output {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => value.into(),
            _ => return Err(rusqlite::Error::InvalidQuery.into()),
        };
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(without_nul(text)),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        })
    }

    /// Returns the type that the server reads it as. What NULL stands for follows from its place.
    pub(super) const fn kind(&self) -> Type {
        match self {
            Self::Null => Type::UNKNOWN,
            Self::Integer(_) => Type::INT8,
            Self::Real(_) => Type::FLOAT8,
            Self::Text(_) => Type::TEXT,
            Self::Blob(_) => Type::BYTEA,
        }
    }
}

/// Texts of PostgreSQL have no zero byte; SQLite's may. A person sees that something was there.
fn without_nul(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text.into_owned()
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_kind: &Type) -> bool {
        true // each is sent as the type that `kind` names
    }

    to_sql_checked!();
}

/// A column as SQLite would show it.
struct Column<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Column<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::BOOL => ValueRef::Integer(i64::from(bool::from_sql(kind, raw)?)),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(kind, raw)?),
            Type::NUMERIC => ValueRef::Integer(whole(raw)?),
            Type::BYTEA => ValueRef::Blob(raw),
            _ => ValueRef::Text(raw),
        }))
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }
}

/// Reads a sum of integers: digits to the base of 10,000, the first with the given weight
/// (PostgreSQL: `numeric_send` in `src/backend/utils/adt/numeric.c`).
fn whole(raw: &[u8]) -> Result<i64, Box<dyn Error + Sync + Send>> {
    let word = |index: usize| -> Option<i16> {
        let bytes = raw.get(2 * index..2 * index + 2)?;
        Some(i16::from_be_bytes(bytes.try_into().ok()?))
    };
    let read = || -> Option<i64> {
        let (digits, weight, sign) = (word(0)?, word(1)?, word(2)?);
        let mut number = 0_i64;
        for place in 0..=weight {
            let digit = if place < digits {
                word(4 + usize::try_from(place).ok()?)?
            } else {
                0
            };
            number = number.checked_mul(10_000)?.checked_add(digit.into())?;
        }
        match sign {
            0 => Some(number),
            0x4000 => Some(-number),
            _ => None,
        }
    };
    read().ok_or_else(|| "a sum that is no integer of 64 bits".into())
}

/// Returns a column of a row.
pub(in crate::db) fn column(
    row: &tokio_postgres::Row,
    index: usize,
) -> Result<ValueRef<'_>, DbError> {
    let read = row.try_get(index);
    let Column(value) = read.map_err(super::ServerError::Refused)?;
    Ok(value)
}
