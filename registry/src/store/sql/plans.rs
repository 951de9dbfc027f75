//! A database in memory for tests, and how it goes about a statement.

use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::dialect::Connection;
use super::migrate::migrate;
use crate::clock::Clock;

/// A database of its own, with our schema and no rows.
pub(super) async fn migrated() -> Connection {
    let mut connection = Connection::connect("sqlite::memory:").await.unwrap();
    migrate(&mut connection, &Clock::system()).await.unwrap();
    connection
}

/// The steps of a statement's plan.
pub(super) async fn plan(statement: &str) -> Vec<String> {
    let mut connection = migrated().await;
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explained).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}
