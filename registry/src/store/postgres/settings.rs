//! The settings of connections.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use crate::error::{Error, Result};
use crate::kit::invalid_value::InvalidValue;

/// Time for a connection to be made.
pub(super) const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// Time to wait for a lock that another transaction has.
const LOCK_TIME_MAX: Duration = Duration::from_secs(5);

/// Time in which a transaction that has begun sends its next statement. The server ends the transaction of a process that
/// was paused, so that it neither blocks others nor writes later.
const IDLE_TIME_MAX: Duration = Duration::from_secs(5);

/// Time in which a transaction begins: that of its lock, and some for the network.
pub(super) const BEGIN_TIME_MAX: Duration = Duration::from_secs(8);

/// Time of a statement that writes. Migrations and copies have none.
const WRITE_TIME_MAX: Duration = Duration::from_secs(10);

/// Time by which an answer may come later than the limit of its statement: for the network, a commit that is flushed, and a busy
/// machine. After it the server of the database counts as gone. It is longer than [`IDLE_TIME_MAX`], so that by then the
/// database has either received a commit or ended its transaction: none is committed after its caller was told that
/// it failed.
const ANSWER_DELAY_MAX: Duration = Duration::from_secs(8);

/// Time in which an idle connection answers before it is used again; without an answer, another one is opened.
pub(super) const PING_TIME_MAX: Duration = Duration::from_secs(1);

/// Time of a statement that counts a request.
const COUNT_TIME_MAX: Duration = Duration::from_secs(1);

/// Interval at which the server checks whether the client of a running statement is still connected.
const CLIENT_CHECKED_EVERY: Duration = Duration::from_secs(1);

/// Prepared statements cached per connection: more than there are distinct statements that are run often.
const STATEMENTS_KEPT: usize = 256;

/// Reads the address of a database.
pub(super) fn parse_url(url: &str) -> Result<PgConnectOptions> {
    let rule = "must look like postgres://user:password@host:5432/database?sslmode=verify-full";
    let options = PgConnectOptions::from_str(url).map_err(|_| Error::from(InvalidValue::new("database URL", rule)))?;
    let options = options.application_name("lathe").statement_cache_capacity(STATEMENTS_KEPT);
    Ok(options.options([
        // Commits are durable when they return.
        ("synchronous_commit", "on".to_owned()),
        ("lock_timeout", format_milliseconds(LOCK_TIME_MAX)),
        ("idle_in_transaction_session_timeout", format_milliseconds(IDLE_TIME_MAX)),
        ("client_connection_check_interval", format_milliseconds(CLIENT_CHECKED_EVERY)),
        // Statements take milliseconds. The server would compile the longer ones for a second, because it expects of a partitioned
        // table many more rows than it has.
        ("jit", "off".to_owned()),
        // Notes such as that a table exists already.
        ("client_min_messages", "warning".to_owned()),
    ]))
}

/// The settings of a kind of connection.
#[derive(Clone)]
pub(super) struct Settings {
    pub options: PgConnectOptions,
    /// Time in which a statement is answered. The database ends it earlier, unless the database cannot be reached: nothing is
    /// received from a host that has lost its power, not even the end of the connection.
    pub answer_time_max: Duration,
}

/// The settings of the connection that writes.
pub(super) fn build_writing_settings(options: PgConnectOptions) -> Settings {
    let options = options.options([("statement_timeout", format_milliseconds(WRITE_TIME_MAX))]);
    Settings { options, answer_time_max: WRITE_TIME_MAX + ANSWER_DELAY_MAX }
}

/// The settings of a connection that must not write. `time_max` bounds its statements.
pub(super) fn build_reading_settings(options: PgConnectOptions, time_max: Duration) -> Settings {
    let options = options.options([
        ("statement_timeout", format_milliseconds(time_max)),
        ("default_transaction_read_only", "on".to_owned()),
        // A page is read in milliseconds; starting other processes for it takes longer.
        ("max_parallel_workers_per_gather", "0".to_owned()),
        // Plans that depend on the values: most statements of lists are unlike each other.
        ("plan_cache_mode", "force_custom_plan".to_owned()),
    ]);
    Settings { options, answer_time_max: time_max + ANSWER_DELAY_MAX }
}

/// The settings of a connection that counts requests. A request that waits for its count is worth less than the count.
pub(super) fn build_counting_settings(options: PgConnectOptions) -> Settings {
    let options = options.options([
        ("statement_timeout", format_milliseconds(COUNT_TIME_MAX)),
        ("lock_timeout", format_milliseconds(COUNT_TIME_MAX)),
        ("synchronous_commit", "off".to_owned()),
    ]);
    Settings { options, answer_time_max: COUNT_TIME_MAX + COUNT_TIME_MAX }
}

fn format_milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}
