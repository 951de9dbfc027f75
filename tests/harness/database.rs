//! Direct access to the database, for data that the API does not show.

use std::path::Path;

use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow};
use sqlx::{Connection, Row, Sqlite, SqliteConnection};

use super::{PATIENCE, Team};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// Waits for locks of the server or of a test.
fn options(data: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(data.join("lathe.db")).busy_timeout(PATIENCE)
}

/// A build without a version.
#[derive(Debug)]
pub struct FailedBuild {
    pub stage: String,
    pub message: String,
    pub log: String,
}

/// The failed builds of a tool, in order.
pub fn failed_builds(data: &Path, tool: &str) -> Vec<FailedBuild> {
    let failed = "SELECT stage, message, log FROM builds WHERE tool = $1 AND state = 'failed' ORDER BY started_at";
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let build = |row: &SqliteRow| FailedBuild {
        stage: row.get("stage"),
        message: text(row.get("message")),
        log: text(row.get("log")),
    };
    rows(data, sqlx::query(failed).bind(tool.to_owned())).iter().map(build).collect()
}

/// Returns the numbers of start events and end events in the records of a tool's runs.
pub fn count_record_events(team: &Team, tool: &str) -> (i64, i64) {
    let counts = "SELECT count(*) AS started, count(f.invocation) AS finished FROM inv_started s
        LEFT JOIN inv_finished f ON f.invocation = s.invocation WHERE s.tool = $1";
    let row = &rows(team.server.data(), sqlx::query(counts).bind(tool.to_owned()))[0];
    (row.get("started"), row.get("finished"))
}

/// Counts the runs that have begun and not ended, as the database has them.
pub fn runs_going_on(data: &Path) -> i64 {
    let open = "SELECT (SELECT count(*) FROM inv_started) - (SELECT count(*) FROM inv_finished) AS going_on";
    rows(data, sqlx::query(open))[0].get("going_on")
}

/// The problems that SQLite finds in a database: `ok` when it finds none.
pub fn check_integrity(data: &Path) -> String {
    rows(data, sqlx::query("PRAGMA integrity_check"))[0].get(0)
}

/// The commits of all versions in a database.
pub fn commits_of_versions(data: &Path) -> Vec<String> {
    let commits = sqlx::query("SELECT DISTINCT commit_id FROM versions");
    rows(data, commits).iter().map(|row| row.get("commit_id")).collect()
}

/// Counts the rows of a table.
pub fn count_rows(team: &Team, table: &str) -> i64 {
    let count = sqlx::AssertSqlSafe(format!("SELECT count(*) AS rows FROM {table}"));
    rows(team.server.data(), sqlx::query(count))[0].get("rows")
}

/// Returns the column `bytes` of the rows of a query.
pub fn read_database(team: &Team, query: &'static str) -> Vec<Vec<u8>> {
    rows(team.server.data(), sqlx::query(query)).iter().map(|row| row.get("bytes")).collect()
}

/// Changes rows behind the server's back.
pub fn change_database(data: &Path, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = options(data);
        let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
        for statement in statements {
            let statement = sqlx::AssertSqlSafe((*statement).to_owned());
            sqlx::query(statement).execute(&mut connection).await.expect("a change");
        }
    });
}

/// A write lock on the database, held as by another process until it is dropped.
pub struct Locked {
    runtime: tokio::runtime::Runtime,
    connection: SqliteConnection,
}

impl Locked {
    pub fn take(data: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let options = options(data);
        let connection = runtime.block_on(async {
            let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
            sqlx::query("BEGIN EXCLUSIVE").execute(&mut connection).await.expect("a lock");
            connection
        });
        Self { runtime, connection }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let ended = self.runtime.block_on(sqlx::query("ROLLBACK").execute(&mut self.connection));
        ended.expect("the end of the lock");
    }
}

fn rows(data: &Path, query: Query) -> Vec<SqliteRow> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = options(data).read_only(true);
        let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
        query.fetch_all(&mut connection).await.expect("rows")
    })
}
