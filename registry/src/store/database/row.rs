//! Rows, and reading their columns.

use crate::error::{Error, Result};

/// The columns of a row by name, as the database has them.
pub trait Columns: Send + Sync {
    fn text(&self, column: &str) -> Result<Option<&str>>;

    fn integer(&self, column: &str) -> Result<Option<i64>>;

    fn bytes(&self, column: &str) -> Result<Option<&[u8]>>;
}

pub struct Row(Box<dyn Columns>);

impl std::fmt::Debug for Row {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Row").finish_non_exhaustive()
    }
}

impl Row {
    pub fn new(columns: impl Columns + 'static) -> Self {
        Self(Box::new(columns))
    }
}

pub fn get<'r, T: FromColumn<'r>>(row: &'r Row, column: &'static str) -> Result<T> {
    T::read(row, column)?.ok_or_else(|| damaged(column, &"is null"))
}

pub fn damaged(column: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Corrupt { what: "row", detail: format!("column {column}: {error}") }
}

/// A type that a column is read into.
pub trait FromColumn<'r>: Sized {
    /// Returns `None` for a null.
    fn read(row: &'r Row, column: &str) -> Result<Option<Self>>;
}

impl<'r, T: FromColumn<'r>> FromColumn<'r> for Option<T> {
    fn read(row: &'r Row, column: &str) -> Result<Option<Self>> {
        T::read(row, column).map(Some)
    }
}

impl<'r> FromColumn<'r> for &'r str {
    fn read(row: &'r Row, column: &str) -> Result<Option<Self>> {
        row.0.text(column)
    }
}

impl<'r> FromColumn<'r> for &'r [u8] {
    fn read(row: &'r Row, column: &str) -> Result<Option<Self>> {
        row.0.bytes(column)
    }
}

impl FromColumn<'_> for String {
    fn read(row: &Row, column: &str) -> Result<Option<Self>> {
        Ok(row.0.text(column)?.map(str::to_owned))
    }
}

impl FromColumn<'_> for Vec<u8> {
    fn read(row: &Row, column: &str) -> Result<Option<Self>> {
        Ok(row.0.bytes(column)?.map(<[u8]>::to_vec))
    }
}

impl FromColumn<'_> for i64 {
    fn read(row: &Row, column: &str) -> Result<Option<Self>> {
        row.0.integer(column)
    }
}

impl FromColumn<'_> for bool {
    fn read(row: &Row, column: &str) -> Result<Option<Self>> {
        Ok(row.0.integer(column)?.map(|flag| flag != 0))
    }
}

macro_rules! read_number {
    ($($number:ty),*) => {$(
        impl FromColumn<'_> for $number {
            fn read(row: &Row, column: &str) -> Result<Option<Self>> {
                let number = row.0.integer(column)?;
                number.map(|number| number.try_into().map_err(|error| damaged(column, &error))).transpose()
            }
        }
    )*};
}

read_number!(u16, u32, u64);
