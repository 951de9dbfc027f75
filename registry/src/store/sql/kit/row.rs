//! Reading columns into domain types. A value that cannot be parsed means a damaged row, not a bad request.

use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::store::database::{damaged, get};

use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::store::database::Row;
use crate::versions::Version;

/// Parses a text column.
pub fn parse_column<T: FromStr<Err: std::fmt::Display>>(row: &Row, column: &'static str) -> Result<T> {
    get::<&str>(row, column)?.parse().map_err(|error| damaged(column, &error))
}

/// Like [`parse_column`], for a nullable column.
pub fn parse_optional_column<T: FromStr<Err: std::fmt::Display>>(row: &Row, column: &'static str) -> Result<Option<T>> {
    let text: Option<&str> = get(row, column)?;
    text.map(|text| text.parse().map_err(|error| damaged(column, &error))).transpose()
}

pub fn read_json<T: DeserializeOwned>(row: &Row, column: &'static str) -> Result<T> {
    serde_json::from_str(get::<&str>(row, column)?).map_err(|error| damaged(column, &error))
}

pub fn read_timestamp(row: &Row, column: &'static str) -> Result<Timestamp> {
    Ok(Timestamp::from_milliseconds(get(row, column)?))
}

pub fn read_optional_timestamp(row: &Row, column: &'static str) -> Result<Option<Timestamp>> {
    let milliseconds: Option<i64> = get(row, column)?;
    Ok(milliseconds.map(Timestamp::from_milliseconds))
}

/// Reads a text that is stored as bytes, so that every character survives.
pub fn read_exact_text(row: &Row, column: &'static str) -> Result<String> {
    String::from_utf8(get::<Vec<u8>>(row, column)?).map_err(|error| damaged(column, &error))
}

/// Reads the three columns of a version.
pub fn read_version(row: &Row) -> Result<Version> {
    Ok(Version::new(read_unsigned(row, "major")?, read_unsigned(row, "minor")?, read_unsigned(row, "patch")?))
}

pub fn read_unsigned(row: &Row, column: &'static str) -> Result<u64> {
    u64::try_from(get::<i64>(row, column)?).map_err(|error| damaged(column, &error))
}

/// Converts a number for a signed column. Larger numbers, which no real value reaches, become the maximum.
pub fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Serialises a value to bind.
pub fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Database { source: Box::new(error) })
}

/// Serialises a list to bind. An empty list becomes null, which statements read as "any".
pub fn to_list<T: Serialize>(values: &[T]) -> Result<Option<String>> {
    if values.is_empty() { Ok(None) } else { to_json(&values).map(Some) }
}
