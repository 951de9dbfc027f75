//! Everything specific to the database: its clock, lists as one bound value, connections, and error codes.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;

use crate::error::Error;

/// The types of the database that is compiled in.
pub(super) type Connection = sqlx::SqliteConnection;
pub(crate) type Row = sqlx::sqlite::SqliteRow;

pub(super) type PoolConnection = sqlx::pool::PoolConnection<sqlx::Sqlite>;
/// A query that may borrow its values.
pub(crate) type Reading<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;
/// A query that owns its values.
pub(super) type Query = Reading<'static>;

/// Lowest version of SQLite: the first without the bug that can corrupt a write-ahead log on reset.
pub(super) const VERSION_MIN: &str = "3.51.3";

/// Time to wait for the lock of another process, such as `org create` beside a server. A longer lock is a fault.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements cached per connection: more than there are distinct statements.
const STATEMENTS_KEPT: usize = 256;

/// Page size of the database.
const PAGE_BYTES: u32 = 4096;

/// The primary result code within an extended result code.
const PRIMARY_BITS: u32 = 0xff;

/// A write that reaches the disk and changes no data. The number has no meaning.
pub(super) const TOUCH: &str = "PRAGMA user_version = 0";

/// The database's clock in milliseconds.
macro_rules! database_now {
    () => {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    };
}

/// The members of a list that is bound as a JSON array.
macro_rules! members_of {
    ($list:literal) => {
        concat!("(SELECT value FROM json_each(", $list, "))")
    };
}

/// A list that is bound as a JSON array, as a table with the column `value`. The cells of a list of lists are `value ->> 0`,
/// `value ->> 1` and so on.
macro_rules! rows_of {
    ($list:literal) => {
        concat!("json_each(", $list, ")")
    };
}

/// Makes SQLite read a table through an index. Its planner would scan a longer index to avoid sorting a few rows.
macro_rules! read_through {
    ($index:literal) => {
        concat!(" INDEXED BY ", $index, " ")
    };
}

/// The pragmas of every connection. With them a commit is durable when it returns.
const PRAGMAS: [(&str, &str); 9] = [
    ("journal_mode", "WAL"),
    ("synchronous", "FULL"),
    ("foreign_keys", "ON"),
    ("trusted_schema", "OFF"),
    ("cell_size_check", "ON"),
    ("mmap_size", "0"),
    ("temp_store", "MEMORY"),
    ("journal_size_limit", "67108864"),
    ("wal_autocheckpoint", "4000"),
];

/// The settings of every connection.
fn options(path: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .page_size(PAGE_BYTES)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(STATEMENTS_KEPT);
    PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
}

/// The settings of the connection that writes. `bytes_max` bounds the size of the file.
pub(super) fn writer_options(path: &Path, bytes_max: Option<u64>) -> SqliteConnectOptions {
    match bytes_max {
        Some(bytes_max) => options(path).pragma("max_page_count", pages(bytes_max).to_string()),
        None => options(path),
    }
}

fn pages(bytes: u64) -> u64 {
    bytes / u64::from(PAGE_BYTES)
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

fn from_database(error: sqlx::Error) -> Error {
    let detail = error.to_string();
    from_code(primary_code(&error), detail).unwrap_or_else(|| Error::Database { source: Box::new(error) })
}

/// Maps SQLite's primary result codes.
fn from_code(code: Option<u32>, detail: String) -> Option<Error> {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READ_ONLY: u32 = 8;
    const IO_ERROR: u32 = 10;
    const CORRUPT: u32 = 11;
    const FULL: u32 = 13;
    const CANNOT_OPEN: u32 = 14;
    const NOT_A_DATABASE: u32 = 26;
    match code? {
        BUSY | LOCKED => Some(Error::DatabaseBusy { detail }),
        READ_ONLY | IO_ERROR | FULL | CANNOT_OPEN => Some(Error::StorageFailing { detail }),
        CORRUPT | NOT_A_DATABASE => Some(Error::Corrupt { what: "database", detail }),
        _ => None,
    }
}

/// Whether a progress handler stopped the statement.
pub(super) fn is_interrupted(error: &sqlx::Error) -> bool {
    const INTERRUPTED: u32 = 9;
    primary_code(error) == Some(INTERRUPTED)
}

/// Whether the statement violated a unique constraint.
pub(super) fn is_conflict(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & PRIMARY_BITS)
}
