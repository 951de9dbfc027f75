//! Opening the database in the data directory.

use std::path::PathBuf;

use sqlx::ConnectOptions;
use sqlx::sqlite::SqlitePoolOptions;

use super::connection::{Reading, wrap_connection};
use super::disk_space::DiskSpace;
use super::errors::to_failure;
use super::search;
use super::settings::{VERSION_MIN, build_reader_options, build_writer_options};
use super::snapshot::snapshot;
use crate::error::{Error, Result};
use crate::files::durable::sync_folder;
use crate::kit::clock::Clock;
use crate::store::database::{
    Connection, Database, DatabaseState, Hear, Pool, Query, Running, Statement, TextSearch, Watch, Window, get,
};
use crate::store::sql::kit::migrate::{inspect, migrate};

const VERSION: &str = "SELECT sqlite_version() AS version";

const TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";

/// The number of `synchronous=FULL`.
const SYNCHRONOUS_FULL: i64 = 2;

/// The path of the database, and the limit on its size.
pub(in crate::store) struct Sqlite {
    path: PathBuf,
    bytes_max: Option<u64>,
    disk_space: DiskSpace,
}

impl Sqlite {
    pub fn new(path: PathBuf, bytes_max: Option<u64>) -> Self {
        let disk_space = DiskSpace::of(path.clone(), bytes_max);
        Self { path, bytes_max, disk_space }
    }
}

impl Database for Sqlite {
    fn create<'c>(&'c self, clock: &'c Clock) -> Running<'c, Connection> {
        Box::pin(async move {
            let options = build_writer_options(&self.path, self.bytes_max).create_if_missing(true);
            let mut connection = wrap_connection(options.connect().await.map_err(to_failure)?);
            require_version(&mut connection).await?;
            require_durability(&mut connection).await?;
            migrate(&mut connection, &migrations::SQLITE, clock).await?;
            self.path.parent().map_or(Ok(()), sync_folder)?;
            Ok(connection)
        })
    }

    fn inspect(&self) -> Running<'_, DatabaseState> {
        Box::pin(async {
            let mut connection = wrap_connection(build_reader_options(&self.path).connect().await.map_err(to_failure)?);
            let version: String = Query::new(VERSION).fetch_column("version", &mut connection).await?;
            let tables = Query::new(TABLES).fetch_all(&mut connection).await?;
            let tables = tables.iter().map(|row| get(row, "name")).collect::<Result<Vec<String>>>()?;
            let schema = inspect(&mut connection, &tables, &migrations::SQLITE).await;
            connection.close().await;
            Ok(DatabaseState { product: format!("SQLite {version}"), schema: schema?, connections_max: None })
        })
    }

    fn prepare<'c>(&'c self, _clock: &'c Clock) -> Running<'c, ()> {
        Box::pin(async { Ok(()) })
    }

    fn writer(&self) -> Running<'_, Connection> {
        Box::pin(async {
            let connection = build_writer_options(&self.path, self.bytes_max).connect().await;
            Ok(wrap_connection(connection.map_err(to_failure)?))
        })
    }

    fn readers(&self, connections: u32) -> Running<'_, Pool> {
        Box::pin(async move {
            // Connections to a file do not break, so they are not tested before use.
            let pool = SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false);
            let pool = pool.connect_with(build_reader_options(&self.path)).await.map_err(to_failure)?;
            Ok(Pool::new(Reading(pool)))
        })
    }

    fn counters(&self, _connections: u32) -> Option<Pool> {
        None
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn watch(&self, _hear: Hear) -> Option<Watch> {
        None
    }

    fn has_space(&self, bytes: u64) -> bool {
        self.disk_space.has(bytes)
    }

    fn snapshot<'c>(&'c self, path: &'c std::path::Path) -> Running<'c, ()> {
        Box::pin(snapshot(&self.path, path))
    }

    fn finds_in_order(&self) -> bool {
        true
    }

    fn add_matches(&self, statement: &mut Statement, search: &TextSearch, window: &Window) {
        search::add_matches(statement, search, window);
    }
}

async fn require_version(connection: &mut Connection) -> Result<()> {
    let found: String = Query::new(VERSION).fetch_column("version", connection).await?;
    if parse_numbers(&found) < parse_numbers(VERSION_MIN) {
        return Err(Error::SqliteTooOld { found, required: VERSION_MIN });
    }
    Ok(())
}

/// Refuses a database whose commits do not survive a power failure. SQLite ignores a setting that it cannot apply: a file
/// system without shared memory has no write-ahead log.
async fn require_durability(connection: &mut Connection) -> Result<()> {
    let log: String = Query::new("PRAGMA journal_mode").fetch_column("journal_mode", &mut *connection).await?;
    let synchronous: i64 = Query::new("PRAGMA synchronous").fetch_column("synchronous", connection).await?;
    if log == "wal" && synchronous >= SYNCHRONOUS_FULL {
        return Ok(());
    }
    Err(Error::NotDurable { detail: format!("journal_mode is `{log}` and synchronous is {synchronous}") })
}

fn parse_numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, SqliteConnection};

    use super::{Query, VERSION_MIN, parse_numbers, require_durability, wrap_connection};
    use crate::error::Result;

    /// Opens a new database in a folder and checks it after a change of its settings.
    async fn checked(statement: &'static str) -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("sqlite://{}?mode=rwc", folder.path().join("lathe.db").display());
        let mut connection = wrap_connection(SqliteConnection::connect(&path).await.unwrap());
        for statement in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", statement] {
            Query::new(statement).execute(&mut connection).await.unwrap();
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
        assert!(parse_numbers("3.51.10") > parse_numbers(VERSION_MIN));
        assert!(parse_numbers("3.9.99") < parse_numbers(VERSION_MIN));
        assert_eq!(parse_numbers("3.51.3"), parse_numbers(VERSION_MIN));
    }
}
