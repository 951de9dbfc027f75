//! Rows that a statement gets as one value, so that a group of them costs one call of the database.

use super::dialect::{Connection, Reading};
use crate::error::Result;

/// A JSON array of rows that are JSON.
#[derive(Default)]
pub(super) struct List(String);

impl List {
    pub fn push(&mut self, row: &str) {
        self.0.push(if self.0.is_empty() { '[' } else { ',' });
        self.0.push_str(row);
    }

    /// Returns the statement with the list as `$1`.
    pub fn query(&self, statement: &'static str) -> Reading<'static> {
        sqlx::query(statement).bind(if self.0.is_empty() { "[]".to_owned() } else { format!("{}]", self.0) })
    }

    /// Runs the statement with the list as `$1`, unless the list is empty.
    pub async fn insert(&self, connection: &mut Connection, statement: &'static str) -> Result<()> {
        if !self.0.is_empty() {
            self.query(statement).execute(connection).await?;
        }
        Ok(())
    }
}

impl<'a> FromIterator<&'a String> for List {
    fn from_iter<I: IntoIterator<Item = &'a String>>(rows: I) -> Self {
        let mut list = Self::default();
        rows.into_iter().for_each(|row| list.push(row));
        list
    }
}
