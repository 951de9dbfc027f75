//! A look into the database, for what has no door yet.
//!
//! The halves of runs' records come there a moment after they are durable, and before anybody reads a history: so what
//! looks for them has a team read its own first.

use std::path::Path;

use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteRow};
use sqlx::{Connection, Row, Sqlite, SqliteConnection};

use super::Team;

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// A build that made no version.
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

/// How many first and how many second halves of records a tool's runs have.
pub fn halves_of_records(team: &Team, tool: &str) -> (i64, i64) {
    let halves = "SELECT count(*) AS started, count(f.invocation) AS finished FROM inv_started s
        LEFT JOIN inv_finished f ON f.invocation = s.invocation WHERE s.tool = $1";
    let row = &rows(settled(team), sqlx::query(halves).bind(tool.to_owned()))[0];
    (row.get("started"), row.get("finished"))
}

/// Runs that began and have not ended, as far as the database knows.
pub fn runs_going_on(data: &Path) -> i64 {
    let open = "SELECT (SELECT count(*) FROM inv_started) - (SELECT count(*) FROM inv_finished) AS going_on";
    rows(data, sqlx::query(open))[0].get("going_on")
}

/// The rows of a table.
pub fn count_rows(team: &Team, table: &str) -> i64 {
    let count = sqlx::AssertSqlSafe(format!("SELECT count(*) AS rows FROM {table}"));
    rows(settled(team), sqlx::query(count))[0].get("rows")
}

/// The column `bytes` of some rows.
pub fn read_database(team: &Team, query: &'static str) -> Vec<Vec<u8>> {
    rows(settled(team), sqlx::query(query)).iter().map(|row| row.get("bytes")).collect()
}

/// Spoils what nobody else may change; of runs only what somebody has read.
pub fn change_database(data: &Path, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(data.join("lathe.db"));
        let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
        for statement in statements {
            let statement = sqlx::AssertSqlSafe((*statement).to_owned());
            sqlx::query(statement).execute(&mut connection).await.expect("a change");
        }
    });
}

/// Another process that writes, and keeps everybody else from writing until this is dropped.
pub struct Locked {
    runtime: tokio::runtime::Runtime,
    connection: SqliteConnection,
}

impl Locked {
    pub fn take(data: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let options = SqliteConnectOptions::new().filename(data.join("lathe.db"));
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

/// The data of a team's server, when the database has all that is durable.
fn settled(team: &Team) -> &Path {
    team.history();
    team.server.data()
}

fn rows(data: &Path, query: Query) -> Vec<SqliteRow> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(data.join("lathe.db")).read_only(true);
        let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
        query.fetch_all(&mut connection).await.expect("rows")
    })
}
