//! Converting columns to domain types.

use serde::de::DeserializeOwned;
use symphony_core::Timestamp;
use symphony_core::user::Attribution;

use crate::db::Row;
use crate::error::StoreError;

/// Parses a text column.
pub(crate) fn parsed<T>(what: &'static str, text: String) -> Result<T, StoreError>
where
    T: TryFrom<String>,
{
    T::try_from(text.clone()).map_err(|_unparsed| StoreError::InvalidRow { what, found: text })
}

/// Parses an optional text column.
pub(crate) fn parsed_opt<T>(
    what: &'static str,
    text: Option<String>,
) -> Result<Option<T>, StoreError>
where
    T: TryFrom<String>,
{
    text.map(|text| parsed(what, text)).transpose()
}

/// Parses a JSON column.
pub(crate) fn json<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_invalid| StoreError::InvalidRow {
        what,
        found: text.chars().take(200).collect(),
    })
}

/// Parses the columns `source` and `user`.
pub(crate) fn attribution(row: &Row<'_>) -> Result<Attribution, StoreError> {
    Ok(Attribution {
        source: parsed_opt("source", row.get("source")?)?,
        user: parsed_opt("user", row.get("user")?)?,
    })
}

/// Parses a time column.
pub(crate) fn time(ms: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(ms).map_err(|_range| StoreError::InvalidRow {
        what: "time",
        found: ms.to_string(),
    })
}

/// Parses a count column.
pub(crate) fn count(row: &Row<'_>, column: &str) -> Result<u64, StoreError> {
    let number: i64 = row.get(column)?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// Parses a small count column.
pub(crate) fn count32(row: &Row<'_>, column: &str) -> Result<u32, StoreError> {
    let number: i64 = row.get(column)?;
    Ok(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
}

/// Returns a value as JSON.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("the domain's types have string keys only")
}

/// Returns a count as SQLite stores it.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
