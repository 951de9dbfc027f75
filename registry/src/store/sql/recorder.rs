//! The connection that records runs. Its statements run on the thread that has it, because there are many for each
//! run: going through another thread for each would take longer than they do.

use rusqlite::CachedStatement;
use rusqlite::types::ToSql;

use super::answers::Keeping;
use super::dialect::direct;
use super::open::Database;
use crate::error::Result;

pub(in crate::store) struct Recorder {
    connection: rusqlite::Connection,
    keeping: Keeping,
}

/// What is bound to a statement: the first as `$1`, and so on. A statement has them in this order.
pub(in crate::store) type Values<'a> = &'a [&'a dyn ToSql];

impl Recorder {
    /// Opens a database that is there.
    pub fn open(database: &Database, keeping: Keeping) -> Result<Self> {
        Ok(Self { connection: direct(&database.path, database.bytes_max)?, keeping })
    }

    /// How long, and how much of it, what stands beside records is kept.
    pub(super) const fn keeping(&self) -> Keeping {
        self.keeping
    }

    /// Says how many rows were changed.
    pub(in crate::store) fn execute(&self, statement: &'static str, values: Values<'_>) -> Result<usize> {
        Ok(self.bound(statement, values)?.raw_execute()?)
    }

    /// The number of the row that the last statement inserted.
    pub(super) fn last_inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// The number in the first column of the first row, if there is a row.
    pub(super) fn number(&self, statement: &'static str, values: Values<'_>) -> Result<Option<i64>> {
        let mut statement = self.bound(statement, values)?;
        let mut rows = statement.raw_query();
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }

    fn bound(&self, statement: &'static str, values: Values<'_>) -> Result<CachedStatement<'_>> {
        let mut statement = self.connection.prepare_cached(statement)?;
        // To the database `$7` is a name, and has its index from where it first stands: they stand in their order.
        debug_assert!(
            (1..=values.len()).all(|number| statement.parameter_index(&format!("${number}")) == Ok(Some(number)))
        );
        for (index, value) in (1..).zip(values) {
            statement.raw_bind_parameter(index, value)?;
        }
        Ok(statement)
    }
}
