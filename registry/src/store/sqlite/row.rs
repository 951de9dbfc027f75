//! Rows of SQLite.

use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, Type};

use super::errors::to_failure;
use crate::error::Result;
use crate::store::database::Columns;

pub(super) struct SqliteColumns(pub SqliteRow);

impl SqliteColumns {
    fn get<'r, T: Decode<'r, Sqlite> + Type<Sqlite>>(&'r self, column: &str) -> Result<Option<T>> {
        self.0.try_get(column).map_err(|error| to_failure(error).error)
    }
}

impl Columns for SqliteColumns {
    fn text(&self, column: &str) -> Result<Option<&str>> {
        self.get(column)
    }

    fn integer(&self, column: &str) -> Result<Option<i64>> {
        self.get(column)
    }

    fn bytes(&self, column: &str) -> Result<Option<&[u8]>> {
        self.get(column)
    }
}
