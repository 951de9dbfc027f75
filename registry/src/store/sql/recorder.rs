//! The connection that records runs. Its statements run on the thread that has it, because there are many for each
//! run: going through another thread for each would take longer than they do.

use std::cell::RefCell;

use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection};

use super::answers::Keeping;
use super::dialect::direct;
use super::open::Database;
use crate::error::Result;

pub(in crate::store) struct Records {
    connection: Connection,
    keeping: Keeping,
}

/// What enters a group of records. Each of its statements is looked up once: a group runs the same few again and again.
pub(in crate::store) struct Recorder<'c> {
    connection: &'c Connection,
    keeping: Keeping,
    prepared: RefCell<Vec<(&'static str, CachedStatement<'c>)>>,
}

/// What is bound to a statement: the first as `$1`, and so on. A statement has them in this order.
pub(in crate::store) type Values<'a> = &'a [&'a dyn ToSql];

impl Records {
    /// Opens a database that is there.
    pub fn open(database: &Database, keeping: Keeping) -> Result<Self> {
        Ok(Self { connection: direct(&database.path, database.bytes_max)?, keeping })
    }

    pub const fn recorder(&self) -> Recorder<'_> {
        let Self { connection, keeping } = self;
        Recorder { connection, keeping: *keeping, prepared: RefCell::new(Vec::new()) }
    }
}

impl<'c> Recorder<'c> {
    /// How long, and how much of it, what stands beside records is kept.
    pub(super) const fn keeping(&self) -> Keeping {
        self.keeping
    }

    /// Says how many rows were changed.
    pub(in crate::store) fn execute(&self, statement: &'static str, values: Values<'_>) -> Result<usize> {
        self.with(statement, values, |statement| statement.raw_execute())
    }

    /// The number of the row that the last statement inserted.
    pub(super) fn last_inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// The number in the first column of the first row, if there is a row.
    pub(super) fn number(&self, statement: &'static str, values: Values<'_>) -> Result<Option<i64>> {
        self.with(statement, values, |statement| statement.raw_query().next()?.map(|row| row.get(0)).transpose())
    }

    fn with<T>(
        &self,
        text: &'static str,
        values: Values<'_>,
        run: impl FnOnce(&mut CachedStatement<'c>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut prepared = self.prepared.borrow_mut();
        let place = match prepared.iter().position(|(other, _)| std::ptr::eq(*other, text)) {
            Some(place) => place,
            None => {
                prepared.push((text, self.connection.prepare_cached(text)?));
                prepared.len() - 1
            }
        };
        let statement = &mut prepared[place].1;
        // To the database `$7` is a name, and has its index from where it first stands: they stand in their order.
        debug_assert!(
            (1..=values.len()).all(|number| statement.parameter_index(&format!("${number}")) == Ok(Some(number)))
        );
        for (index, value) in (1..).zip(values) {
            statement.raw_bind_parameter(index, value)?;
        }
        Ok(run(statement)?)
    }
}
