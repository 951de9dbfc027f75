//! What differs between databases: the clock, lists as one bound value, connections, and error codes.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::error::Error;

/// The connections, rows and statements of the database that is compiled in.
pub(super) type Connection = sqlx::SqliteConnection;
pub(super) type Row = sqlx::sqlite::SqliteRow;

pub(super) type PoolConnection = sqlx::pool::PoolConnection<sqlx::Sqlite>;
/// A statement that borrows nothing outlives its caller; one to be read at once may.
pub(super) type Reading<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;
pub(super) type Query = Reading<'static>;

/// The first release without the defect that can corrupt a write-ahead log on reset.
pub(super) const VERSION_MIN: &str = "3.51.3";

/// A second process may write too (`org create` beside a server); longer than that is a fault.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Distinct statements are fewer than this.
const STATEMENTS_KEPT: usize = 256;

/// The unit in which the file grows.
const PAGE_BYTES: u32 = 4096;

/// A write that reaches the disk and changes nothing: the number means nothing to the database or to us.
pub(super) const TOUCH: &str = "PRAGMA user_version = 0";

/// The database's own clock in milliseconds.
macro_rules! database_now {
    () => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
}

/// The members of a list that is bound as one JSON array.
macro_rules! members_of {
    ($list:literal) => {
        concat!("(SELECT value FROM json_each(", $list, "))")
    };
}

/// A list that is bound as one JSON array, as a table with the column `value`. In a list of lists the cells are
/// `value ->> 0`, `value ->> 1` and so on.
macro_rules! rows_of {
    ($list:literal) => {
        concat!("json_each(", $list, ")")
    };
}

/// Behind a table's name: that it is read through this index, where the planner would walk a longer one to save itself
/// sorting a few rows.
macro_rules! read_through {
    ($index:literal) => {
        concat!(" INDEXED BY ", $index, " ")
    };
}

/// The settings of every connection; a commit is durable when it returns.
fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .page_size(PAGE_BYTES)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .pragma("mmap_size", "0")
        .pragma("temp_store", "MEMORY")
        .pragma("journal_size_limit", "67108864")
        .pragma("wal_autocheckpoint", "1000")
}

/// The settings of the connection that writes, to a file of at most so many bytes.
pub(super) fn writer_options(path: &Path, bytes_max: Option<u64>) -> SqliteConnectOptions {
    let Some(bytes_max) = bytes_max else {
        return options(path);
    };
    let pages_max = bytes_max / u64::from(PAGE_BYTES);
    options(path).pragma("max_page_count", pages_max.to_string())
}

/// The settings of a connection that must not write.
pub(super) fn reader_options(path: &Path) -> SqliteConnectOptions {
    options(path).pragma("query_only", "ON")
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::PoolTimedOut => Self::DatabaseBusy { detail: error.to_string() },
            sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => Self::StorageFailing { detail: error.to_string() },
            sqlx::Error::Database(_) => from_database(error),
            other => Self::Database { source: Box::new(other) },
        }
    }
}

/// Folds SQLite's primary result codes.
fn from_database(error: sqlx::Error) -> Error {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READ_ONLY: u32 = 8;
    const IO_ERROR: u32 = 10;
    const CORRUPT: u32 = 11;
    const FULL: u32 = 13;
    const CANNOT_OPEN: u32 = 14;
    const NOT_A_DATABASE: u32 = 26;
    let detail = error.to_string();
    match primary_code(&error) {
        Some(BUSY | LOCKED) => Error::DatabaseBusy { detail },
        Some(READ_ONLY | IO_ERROR | FULL | CANNOT_OPEN) => Error::StorageFailing { detail },
        Some(CORRUPT | NOT_A_DATABASE) => Error::Corrupt { what: "database", detail },
        _ => Error::Database { source: Box::new(error) },
    }
}

/// Whether a progress handler stopped the statement.
pub(super) fn is_interrupted(error: &sqlx::Error) -> bool {
    const INTERRUPTED: u32 = 9;
    primary_code(error) == Some(INTERRUPTED)
}

/// Whether a row was in the way.
pub(super) fn is_conflict(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

fn primary_code(error: &sqlx::Error) -> Option<u32> {
    const PRIMARY_BITS: u32 = 0xff;
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & PRIMARY_BITS)
}
