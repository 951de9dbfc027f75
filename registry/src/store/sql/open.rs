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

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{VERSION_MIN, numbers};

    #[test]
    fn versions_compare_by_number() {
        assert!(numbers("3.51.10") > numbers(VERSION_MIN));
        assert!(numbers("3.9.99") < numbers(VERSION_MIN));
        assert_eq!(numbers("3.51.3"), numbers(VERSION_MIN));
    }
}
