//! How the database that is linked goes about a statement, for tests.

use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::dialect::Connection;
use super::migrate::migrate;
use crate::clock::Clock;

/// The steps of a statement's plan, on a database without rows.
pub(super) async fn plan(statement: &str) -> Vec<String> {
    let mut connection = Connection::connect("sqlite::memory:").await.unwrap();
    migrate(&mut connection, &Clock::system()).await.unwrap();
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explained).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}
