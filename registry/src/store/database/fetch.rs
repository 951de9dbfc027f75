//! Running queries and reading their rows.

use super::row::get;
use super::{Execute, Failure, FromColumn, Query, Row};
use crate::error::{Error, Result};

impl Query {
    pub async fn fetch_all(self, on: impl Execute) -> Result<Vec<Row>, Failure> {
        on.rows(self).await
    }

    /// Returns the first row.
    pub async fn fetch_optional(self, on: impl Execute) -> Result<Option<Row>, Failure> {
        Ok(on.rows(self).await?.into_iter().next())
    }

    /// Returns the first row of a query that always has one.
    pub async fn fetch_one(self, on: impl Execute) -> Result<Row, Failure> {
        let missing = || Error::Corrupt { what: "database", detail: "a statement returned no row".into() };
        Ok(self.fetch_optional(on).await?.ok_or_else(missing)?)
    }

    /// Returns a column of the first row of a query that always has one.
    pub async fn fetch_column<T: for<'r> FromColumn<'r>>(self, column: &'static str, on: impl Execute) -> Result<T> {
        get(&self.fetch_one(on).await?, column)
    }

    /// Returns the number of changed rows.
    pub async fn execute(self, on: impl Execute) -> Result<u64, Failure> {
        on.execute(self).await
    }
}
