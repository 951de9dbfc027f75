//! Opening and closing connections.

use std::path::PathBuf;

use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection as _, SqlitePool};

use super::dialect::{Connection, VERSION_MIN, reader_options, writer_options};
use super::migrate::migrate;
use super::search_rebuild::index_missing;
use crate::clock::Clock;
use crate::durable::sync_folder;
use crate::error::{Error, Result};

/// The number of `synchronous=FULL`.
const SYNCHRONOUS_FULL: i64 = 2;

/// The path of the database, and the limit on its size.
pub(crate) struct Database {
    pub path: PathBuf,
    pub bytes_max: Option<u64>,
}

impl Database {
    /// Opens the connection that writes. Creates the database, or applies missing migrations and completes the full-text index.
    pub async fn create(&self, clock: &Clock) -> Result<Connection> {
        let options = writer_options(&self.path, self.bytes_max).create_if_missing(true);
        let mut connection = options.connect().await?;
        require_version(&mut connection).await?;
        require_durability(&mut connection).await?;
        migrate(&mut connection, clock).await?;
        index_missing(&mut connection).await?;
        self.path.parent().map_or(Ok(()), sync_folder)?;
        Ok(connection)
    }

    /// Opens the connection that writes to an existing database.
    pub async fn writer(&self) -> Result<Connection> {
        Ok(writer_options(&self.path, self.bytes_max).connect().await?)
    }

    /// Opens the connections that read.
    pub async fn readers(&self, connections: u32) -> Result<SqlitePool> {
        // Connections to a file do not break, so they are not tested before use.
        let pool = SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false);
        Ok(pool.connect_with(reader_options(&self.path)).await?)
    }
}

/// Closes a connection. A failure is only logged, because committed data is safe.
pub(crate) async fn close(connection: Connection) {
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "closing a database connection failed");
    }
}

async fn require_version(connection: &mut Connection) -> Result<()> {
    let found: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    if numbers(&found) < numbers(VERSION_MIN) {
        return Err(Error::SqliteTooOld { found, required: VERSION_MIN });
    }
    Ok(())
}

/// Refuses a database whose commits do not survive a power failure. SQLite ignores a setting that it cannot apply: a file
/// system without shared memory has no write-ahead log.
async fn require_durability(connection: &mut Connection) -> Result<()> {
    let log: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await?;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(connection).await?;
    if log == "wal" && synchronous >= SYNCHRONOUS_FULL {
        return Ok(());
    }
    Err(Error::NotDurable { detail: format!("journal_mode is `{log}` and synchronous is {synchronous}") })
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, SqliteConnection};

    use super::{VERSION_MIN, numbers, require_durability};
    use crate::error::Result;

    /// Opens a new database in a folder and checks it after a change of its settings.
    async fn checked(statement: &'static str) -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("sqlite://{}?mode=rwc", folder.path().join("lathe.db").display());
        let mut connection = SqliteConnection::connect(&path).await.unwrap();
        for statement in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", statement] {
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
        require_durability(&mut connection).await
    }

    #[tokio::test]
    async fn weaker_settings_are_refused() {
        checked("PRAGMA synchronous = EXTRA").await.unwrap();
        for weak in ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = OFF", "PRAGMA journal_mode = DELETE"] {
            let refused = checked(weak).await.unwrap_err();
            assert_eq!(refused.code(), "not_durable", "{weak}: {refused}");
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(numbers("3.51.10") > numbers(VERSION_MIN));
        assert!(numbers("3.9.99") < numbers(VERSION_MIN));
        assert_eq!(numbers("3.51.3"), numbers(VERSION_MIN));
    }
}
