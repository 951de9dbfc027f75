//! The settings of connections.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;

/// Lowest version of SQLite: the first without the bug that can corrupt a write-ahead log on reset.
pub(super) const VERSION_MIN: &str = "3.51.3";

/// Time to wait for the lock of another process, such as `org create` beside a server. A longer lock is a fault.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements cached per connection: more than there are distinct statements.
const STATEMENTS_KEPT: usize = 256;

/// Page size of the database.
const PAGE_BYTES: u32 = 4096;

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
pub(super) fn build_options(path: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .page_size(PAGE_BYTES)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(STATEMENTS_KEPT);
    PRAGMAS.into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
}

/// The settings of the connection that writes. `bytes_max` bounds the size of the file.
pub(super) fn build_writer_options(path: &Path, bytes_max: Option<u64>) -> SqliteConnectOptions {
    match bytes_max {
        Some(bytes_max) => build_options(path).pragma("max_page_count", count_pages(bytes_max).to_string()),
        None => build_options(path),
    }
}

fn count_pages(bytes: u64) -> u64 {
    bytes / u64::from(PAGE_BYTES)
}

/// The settings of a connection that must not write.
pub(super) fn build_reader_options(path: &Path) -> SqliteConnectOptions {
    build_options(path).pragma("query_only", "ON")
}
