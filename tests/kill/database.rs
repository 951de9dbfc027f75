//! What the database has: the records of runs and the versions, and whether it is sound.

mod columns;

use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::stage::TAKEOVER_MAX;
use crate::harness::PATIENCE;
use columns::Columns;

/// Time between two looks at work that goes on.
const PAUSE: Duration = Duration::from_millis(50);

/// `{number}` stands for the number of the action in the input.
const RECORDS: &str = "SELECT s.rowid AS position, s.invocation, f.succeeded, f.output, f.exception_type,
        {number} AS number
    FROM inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation WHERE s.rowid > $1 ORDER BY s.rowid";

const SQLITE_NUMBER: &str = "json_extract(s.input, '$.input_parameters.number')";
const POSTGRES_NUMBER: &str = "CAST(CAST(s.input AS JSON) #>> '{input_parameters,number}' AS BIGINT)";

const VERSIONS: &str = "SELECT v.tool, v.major || '.' || v.minor || '.' || v.patch AS version, v.commit_id,
        v.image_digest, v.bundle_digest, v.deprecated, coalesce(b.state, 'missing') AS build,
        CAST(coalesce(length(b.log), 0) AS BIGINT) AS log_bytes,
        CAST(coalesce(length(a.provenance), 0) AS BIGINT) AS provenance_bytes,
        CAST(coalesce(length(a.sbom), 0) AS BIGINT) AS sbom_bytes
    FROM versions v LEFT JOIN builds b ON b.organization = v.organization AND b.build = v.build
    LEFT JOIN attestations a ON a.organization = v.organization AND a.version_id = v.version_id
    ORDER BY v.tool, v.ordinal";

/// Work that no server may have when nothing goes on. Each query ends with a condition.
const OPEN: [(&str, &str); 4] = [
    ("open runs", "SELECT count(*) AS open FROM inv_open WHERE true"),
    ("running operations", "SELECT count(*) AS open FROM operations WHERE state = 'running'"),
    ("running builds", "SELECT count(*) AS open FROM builds WHERE state = 'running'"),
    ("held leases", "SELECT count(*) AS open FROM tool_leases WHERE operation IS NOT NULL"),
];

/// Records without an end.
const UNENDED: &str = "SELECT (SELECT count(*) FROM inv_started) - (SELECT count(*) FROM inv_finished) AS open";

/// Rows that disagree with each other.
const DISAGREEMENTS: [(&str, &str); 4] = [
    (
        "ends without a start",
        "SELECT count(*) AS open FROM inv_finished f LEFT JOIN inv_started s ON s.invocation = f.invocation
            WHERE s.invocation IS NULL",
    ),
    (
        "ended runs in the list of open runs",
        "SELECT count(*) AS open FROM inv_open o JOIN inv_finished f ON f.invocation = o.invocation",
    ),
    (
        "ends that are not searchable",
        "SELECT count(*) AS open FROM inv_finished f LEFT JOIN inv_text t ON t.rowid = f.sequence WHERE t.rowid IS NULL",
    ),
    (
        "succeeded builds without their version",
        "SELECT count(*) AS open FROM builds b LEFT JOIN versions v
            ON v.organization = b.organization AND v.version_id = b.version_id
            WHERE b.state = 'succeeded' AND v.version_id IS NULL",
    ),
];

/// Reads every page of every table and compares it with every index, as `pg_amcheck` does.
const CHECK_INDEXES: [&str; 2] = [
    "CREATE EXTENSION IF NOT EXISTS amcheck",
    "SELECT bt_index_check(c.oid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE a.amname = 'btree' AND n.nspname = 'public' AND c.relkind = 'i' AND i.indisvalid",
];
const CHECK_TABLES: &str = "SELECT c.relname || ', block ' || h.blkno || ': ' || h.msg AS problem
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, LATERAL verify_heapam(c.oid) h
    WHERE c.relkind = 'r' AND n.nspname = 'public'";

/// Where a database is.
#[derive(Clone, Debug)]
pub enum Location {
    /// A data directory.
    Sqlite(PathBuf),
    /// The URL of a server.
    Postgres(String),
}

/// The record of a run.
#[derive(Clone, Debug)]
pub struct Record {
    pub position: i64,
    pub id: String,
    /// The number of the action in the run's input.
    pub number: u64,
    /// The output or the type of the failure; `None` without an end.
    pub end: Option<Result<String, String>>,
}

/// A version with the sizes of its parts.
#[derive(Clone, Debug)]
pub struct VersionRow {
    pub tool: String,
    pub version: String,
    pub commit: String,
    pub digests: Vec<String>,
    pub is_deprecated: bool,
    pub build: String,
    /// Build log, provenance and bill of materials.
    pub document_bytes: [i64; 3],
}

pub struct Database {
    runtime: Runtime,
    connection: Open,
}

enum Open {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Database {
    pub fn open(location: &Location) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let connection = runtime.block_on(async {
            match location {
                Location::Sqlite(data) => {
                    let options = SqliteConnectOptions::new().filename(data.join("lathe.db")).busy_timeout(PATIENCE);
                    SqliteConnection::connect_with(&options.read_only(true)).await.map(Open::Sqlite)
                }
                Location::Postgres(url) => PgConnection::connect(url).await.map(Open::Postgres),
            }
        });
        Self { runtime, connection: connection.expect("a database") }
    }

    /// The records after a position.
    pub fn records(&mut self, after: i64) -> Vec<Record> {
        let number = if self.is_server() { POSTGRES_NUMBER } else { SQLITE_NUMBER };
        let query = RECORDS.replace("{number}", number).replace("$1", &after.to_string());
        self.rows(&query).iter().map(|row| record(&**row)).collect()
    }

    pub fn versions(&mut self) -> Vec<VersionRow> {
        self.rows(VERSIONS).iter().map(|row| version(&**row)).collect()
    }

    /// Waits for work that servers have taken over, and names what does not end.
    pub fn unfinished_work(&mut self) -> Vec<String> {
        let deadline = Instant::now() + TAKEOVER_MAX;
        loop {
            let open = self.open_work();
            if open.is_empty() || Instant::now() >= deadline {
                return open;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Names the work that is going on.
    fn open_work(&mut self) -> Vec<String> {
        let queries = OPEN.into_iter().chain([("records without an end", UNENDED)]);
        queries.filter_map(|(what, query)| self.finding(what, query)).collect()
    }

    /// Names the work of all starts of servers but these.
    pub fn work_of_others(&mut self, boots: &[String]) -> Vec<String> {
        let list = boots.iter().map(|boot| format!("'{boot}'")).collect::<Vec<_>>().join(", ");
        let of_others = |query| format!("{query} AND boot NOT IN ({list})");
        OPEN.iter().filter_map(|(what, query)| self.finding(what, &of_others(query))).collect()
    }

    /// The starts of servers that the database knows, the last one last.
    pub fn boots(&mut self) -> Vec<String> {
        let rows = self.rows("SELECT boot FROM nodes ORDER BY started_at");
        rows.iter().filter_map(|row| row.text("boot")).collect()
    }

    /// Returns what is wrong in the database.
    pub fn damage(&mut self) -> Vec<String> {
        if self.is_server() { self.damage_of_postgres() } else { self.damage_of_sqlite() }
    }

    fn damage_of_sqlite(&mut self) -> Vec<String> {
        let checked = self.rows("PRAGMA integrity_check");
        let lines = checked.iter().filter_map(|row| row.text("integrity_check")).filter(|line| line != "ok");
        let mut found: Vec<String> = lines.collect();
        let broken = self.rows("PRAGMA foreign_key_check");
        let table = |row: &dyn Columns| row.text("table").unwrap_or_default();
        found.extend(broken.iter().map(|row| format!("a row of {} without its parent", table(&**row))));
        found
    }

    /// A damaged index is an error of the check itself.
    fn damage_of_postgres(&mut self) -> Vec<String> {
        for query in CHECK_INDEXES {
            self.rows(query);
        }
        let mut found: Vec<_> = self.rows(CHECK_TABLES).iter().filter_map(|row| row.text("problem")).collect();
        found.extend(DISAGREEMENTS.iter().filter_map(|(what, query)| self.finding(what, query)));
        found
    }

    const fn is_server(&self) -> bool {
        matches!(self.connection, Open::Postgres(_))
    }

    fn finding(&mut self, what: &str, query: &str) -> Option<String> {
        let count = self.rows(query)[0].number("open").unwrap_or_default();
        (count != 0).then(|| format!("{count} {what}"))
    }

    fn rows(&mut self, query: &str) -> Vec<Box<dyn Columns>> {
        let query = AssertSqlSafe(query.to_owned());
        let Self { runtime, connection } = self;
        runtime.block_on(async {
            match connection {
                Open::Sqlite(connection) => {
                    columns::boxed(sqlx::query(query).fetch_all(connection).await.expect("rows"))
                }
                Open::Postgres(connection) => {
                    columns::boxed(sqlx::query(query).fetch_all(connection).await.expect("rows"))
                }
            }
        })
    }
}

fn record(row: &dyn Columns) -> Record {
    let text = |name: &str| String::from_utf8(row.bytes(name).unwrap_or_default()).expect("UTF-8");
    let end = row.number("succeeded").map(|succeeded| match succeeded {
        1 => Ok(text("output")),
        _ => Err(text("exception_type")),
    });
    let number = u64::try_from(row.number("number").unwrap_or_default()).expect("a number of an action");
    let (position, id) = (row.number("position").expect("a position"), row.text("invocation").expect("an id"));
    Record { position, id, number, end }
}

fn version(row: &dyn Columns) -> VersionRow {
    let text = |name: &str| row.text(name).expect("a text");
    VersionRow {
        tool: text("tool"),
        version: text("version"),
        commit: text("commit_id"),
        digests: ["image_digest", "bundle_digest"].iter().filter_map(|name| row.text(name)).collect(),
        is_deprecated: row.number("deprecated") != Some(0),
        build: text("build"),
        document_bytes: ["log_bytes", "provenance_bytes", "sbom_bytes"]
            .map(|name| row.number(name).unwrap_or_default()),
    }
}
