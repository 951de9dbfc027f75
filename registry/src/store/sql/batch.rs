//! Several statements in one call of the database. A call wakes the database's thread and its caller again, which takes longer
//! than a small statement.

use sqlx::AssertSqlSafe;

use super::dialect::{Connection, Row};
use super::list::List;
use crate::error::Result;

/// Statements that run together, in their order. The texts of statements come from the program.
#[derive(Default)]
pub(super) struct Batch {
    text: String,
    lists: Vec<String>,
}

impl Batch {
    /// Adds a statement without values.
    pub fn push(&mut self, statement: &'static str) {
        self.add(statement);
    }

    /// Adds a statement with a list as `$1`, unless the list is empty.
    pub fn insert(&mut self, statement: &'static str, list: List) {
        if let Some(list) = list.bound() {
            self.lists.push(list);
            let number = format!("${}", self.lists.len());
            self.add(&statement.replace("$1", &number));
        }
    }

    fn add(&mut self, statement: &str) {
        if !self.text.is_empty() {
            self.text.push_str("; ");
        }
        self.text.push_str(statement);
    }

    /// Runs the statements and forgets them.
    pub async fn run(&mut self, connection: &mut Connection) -> Result<()> {
        self.rows(connection).await.map(drop)
    }

    /// Like [`Batch::run`], and returns the rows of all statements.
    pub async fn rows(&mut self, connection: &mut Connection) -> Result<Vec<Row>> {
        let Self { text, lists } = std::mem::take(self);
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let query = sqlx::query(AssertSqlSafe(text));
        Ok(lists.into_iter().fold(query, |query, list| query.bind(list)).fetch_all(connection).await?)
    }
}
