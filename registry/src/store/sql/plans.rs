//! An in-memory database for tests, and the query plans of statements.

use sqlx::{AssertSqlSafe, Connection as _};

use super::dialect::Connection;
use super::migrate::migrate;
use super::row::get;
use crate::clock::Clock;
use crate::error::Result;

/// Creates an in-memory database with the schema and no rows.
pub(super) async fn migrated() -> Result<Connection> {
    let mut connection = Connection::connect("sqlite::memory:").await?;
    migrate(&mut connection, &Clock::system()).await?;
    Ok(connection)
}

/// Returns the steps of the query plan of a statement.
pub(super) async fn plan(statement: &str) -> Result<Vec<String>> {
    let mut connection = migrated().await?;
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explained).fetch_all(&mut connection).await?;
    rows.iter().map(|row| get(row, "detail")).collect()
}
