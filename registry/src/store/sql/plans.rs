//! A database in memory for tests, and how it goes about a statement.

use sqlx::{AssertSqlSafe, Connection as _};

use super::dialect::Connection;
use super::migrate::migrate;
use super::row::get;
use crate::clock::Clock;
use crate::error::Result;

/// A database of its own, with our schema and no rows.
pub(super) async fn migrated() -> Result<Connection> {
    let mut connection = Connection::connect("sqlite::memory:").await?;
    migrate(&mut connection, &Clock::system()).await?;
    Ok(connection)
}

/// The steps of a statement's plan.
pub(super) async fn plan(statement: &str) -> Result<Vec<String>> {
    let mut connection = migrated().await?;
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explained).fetch_all(&mut connection).await?;
    rows.iter().map(|row| get(row, "detail")).collect()
}
