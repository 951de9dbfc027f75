//! Several statements in as few calls of the database as it allows. A call costs more than a small statement.

use super::list::List;
use crate::error::Result;
use crate::store::database::{Connection, Query, Row};

/// Statements that run together, in their order.
#[derive(Default)]
pub(in crate::store::sql) struct Batch(Vec<Query>);

impl Batch {
    /// Adds a statement without values.
    pub fn push(&mut self, statement: &'static str) {
        self.0.push(Query::new(statement));
    }

    /// Adds a statement with a list as `$1`, unless the list is empty.
    pub fn insert(&mut self, statement: &'static str, list: List) {
        if let Some(list) = list.bound() {
            self.0.push(Query::new(statement).bind(list));
        }
    }

    /// Runs the statements and forgets them.
    pub async fn run(&mut self, connection: &mut Connection) -> Result<()> {
        self.rows(connection).await.map(drop)
    }

    /// Like [`Batch::run`], and returns the rows of all statements.
    pub async fn rows(&mut self, connection: &mut Connection) -> Result<Vec<Row>> {
        Ok(connection.run_all(std::mem::take(&mut self.0)).await?)
    }
}
