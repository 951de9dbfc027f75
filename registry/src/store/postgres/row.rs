//! Rows of Postgres.

use sqlx::postgres::PgRow;
use sqlx::{Column, Decode, Postgres, Row, Type, TypeInfo};

use super::errors::to_failure;
use crate::error::Result;
use crate::store::database::Columns;

pub(super) struct PostgresColumns(pub PgRow);

impl PostgresColumns {
    fn get<'r, T: Decode<'r, Postgres> + Type<Postgres>>(&'r self, column: &str) -> Result<Option<T>> {
        self.0.try_get(column).map_err(|error| to_failure(error).error)
    }
}

impl Columns for PostgresColumns {
    fn text(&self, column: &str) -> Result<Option<&str>> {
        self.get(column)
    }

    /// Counts and columns have eight bytes, the lengths of texts have four, and comparisons are true or false.
    fn integer(&self, column: &str) -> Result<Option<i64>> {
        let found = self.0.try_column(column).map_err(|error| to_failure(error).error)?;
        match found.type_info().name() {
            "INT4" => Ok(self.get::<i32>(column)?.map(i64::from)),
            "BOOL" => Ok(self.get::<bool>(column)?.map(i64::from)),
            _ => self.get(column),
        }
    }

    fn bytes(&self, column: &str) -> Result<Option<&[u8]>> {
        self.get(column)
    }
}
