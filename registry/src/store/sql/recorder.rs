//! The connection that records runs. Its statements run on the writer thread itself. Each run takes many statements, and
//! a call to another thread takes longer than a statement.

use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection};

use super::dialect::direct;
use super::open::Database;
use crate::error::Result;
use crate::store::retention::Retention;

pub(crate) struct Recorder {
    connection: Connection,
    retention: Retention,
}

/// The values bound to a statement, from `$1` on. The statement must first mention them in this order.
pub(crate) type Values<'a> = &'a [&'a dyn ToSql];

impl Recorder {
    /// Opens an existing database.
    pub fn open(database: &Database, retention: Retention) -> Result<Self> {
        Ok(Self { connection: direct(&database.path, database.bytes_max)?, retention })
    }

    pub(super) const fn retention(&self) -> Retention {
        self.retention
    }

    /// Returns the number of changed rows.
    pub(crate) fn execute(&self, statement: &'static str, values: Values<'_>) -> Result<usize> {
        Ok(self.bound(statement, values)?.raw_execute()?)
    }

    /// Returns the number of the row that was inserted last.
    pub(super) fn last_inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Returns the number in the first column of the first row, if there is a row.
    pub(super) fn number(&self, statement: &'static str, values: Values<'_>) -> Result<Option<i64>> {
        let mut statement = self.bound(statement, values)?;
        Ok(statement.raw_query().next()?.map(|row| row.get(0)).transpose()?)
    }

    /// Returns the text in the first column of the first row, if there is a row.
    pub(super) fn text(&self, statement: &'static str, values: Values<'_>) -> Result<Option<String>> {
        let mut statement = self.bound(statement, values)?;
        Ok(statement.raw_query().next()?.map(|row| row.get(0)).transpose()?)
    }

    fn bound(&self, statement: &'static str, values: Values<'_>) -> Result<CachedStatement<'_>> {
        let mut statement = self.connection.prepare_cached(statement)?;
        // SQLite reads `$7` as a name and numbers names by their first mention.
        debug_assert!(
            (1..=values.len()).all(|number| statement.parameter_index(&format!("${number}")) == Ok(Some(number)))
        );
        for (index, value) in (1..).zip(values) {
            statement.raw_bind_parameter(index, value)?;
        }
        Ok(statement)
    }
}
