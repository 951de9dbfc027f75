//! Tests of the statements on SQLite.

mod many_runs;
mod plans;

use sqlx::{AssertSqlSafe, Connection as _, Executor, SqlSafeStr, SqliteConnection};

use super::Sqlite;
use super::connection::wrap_connection;
use super::fragments::build_fragment;
use crate::error::Result;
use crate::kit::clock::Clock;
use crate::store::database::{Connection, Database, expand};
use crate::store::sql::kit::migrate::migrate;

/// Creates an in-memory database with the schema and no rows.
pub(in crate::store) async fn migrated() -> Result<Connection> {
    let mut connection = wrap_connection(SqliteConnection::connect("sqlite::memory:").await.unwrap());
    migrate(&mut connection, &migrations::SQLITE, &Clock::system()).await?;
    Ok(connection)
}

/// A database that prepares statements and runs none.
pub(in crate::store) struct Preparer {
    connection: SqliteConnection,
    _folder: tempfile::TempDir,
}

impl Preparer {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.db");
        Sqlite::new(path.clone(), None).create(&Clock::system()).await.unwrap().close().await;
        let connection = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
        Self { connection, _folder: folder }
    }

    pub async fn prepare(&mut self, text: &str) -> Result<(), sqlx::Error> {
        let expanded = expand(text.to_owned().into(), build_fragment);
        for statement in expanded.split(';') {
            self.connection.prepare(AssertSqlSafe(statement).into_sql_str()).await?;
        }
        Ok(())
    }
}
