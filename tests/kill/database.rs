//! What the database has: the records of runs and the versions, and whether its file is sound.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{Connection, Row, SqliteConnection};

use crate::harness::PATIENCE;

const RECORDS: &str = "SELECT s.rowid AS position, s.invocation, f.succeeded, f.output, f.exception_type,
        json_extract(s.input, '$.input_parameters.number') AS number
    FROM inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation WHERE s.rowid > $1 ORDER BY s.rowid";

const VERSIONS: &str = "SELECT v.tool, v.major || '.' || v.minor || '.' || v.patch AS version, v.commit_id,
        v.image_digest, v.bundle_digest, v.deprecated, coalesce(b.state, 'missing') AS build,
        coalesce(length(b.log), 0) AS log_bytes, coalesce(length(a.provenance), 0) AS provenance_bytes,
        coalesce(length(a.sbom), 0) AS sbom_bytes
    FROM versions v LEFT JOIN builds b ON b.organization = v.organization AND b.build = v.build
    LEFT JOIN attestations a ON a.organization = v.organization AND a.version_id = v.version_id
    ORDER BY v.tool, v.ordinal";

/// Work that no running server may have right after its start.
const OPEN: [(&str, &str); 4] = [
    (
        "records without an end",
        "SELECT (SELECT count(*) FROM inv_started) - (SELECT count(*) FROM inv_finished) AS open",
    ),
    ("running operations", "SELECT count(*) AS open FROM operations WHERE state = 'running'"),
    ("running builds", "SELECT count(*) AS open FROM builds WHERE state = 'running'"),
    ("held leases", "SELECT count(*) AS open FROM tool_leases WHERE operation IS NOT NULL"),
];

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
    runtime: tokio::runtime::Runtime,
    connection: SqliteConnection,
}

impl Database {
    pub fn open(data: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let options = SqliteConnectOptions::new().filename(data.join("lathe.db")).busy_timeout(PATIENCE);
        let options = options.read_only(true);
        let connection = runtime.block_on(SqliteConnection::connect_with(&options)).expect("a database");
        Self { runtime, connection }
    }

    /// The records after a position.
    pub fn records(&mut self, after: i64) -> Vec<Record> {
        self.rows(RECORDS, Some(after)).iter().map(record).collect()
    }

    pub fn versions(&mut self) -> Vec<VersionRow> {
        self.rows(VERSIONS, None).iter().map(version).collect()
    }

    /// Names the work that is going on.
    pub fn open_work(&mut self) -> Vec<String> {
        let count = |database: &mut Self, query| database.rows(query, None)[0].get::<i64, _>("open");
        let found = OPEN.iter().map(|(what, query)| (what, count(self, *query))).filter(|(_, count)| *count != 0);
        found.map(|(what, count)| format!("{count} {what}")).collect()
    }

    /// Returns what SQLite finds wrong in the file.
    pub fn damage(&mut self) -> Vec<String> {
        let checked = self.rows("PRAGMA integrity_check", None);
        let lines = checked.iter().map(|row| row.get::<String, _>(0)).filter(|line| line != "ok");
        let mut found: Vec<String> = lines.collect();
        let broken = self.rows("PRAGMA foreign_key_check", None);
        found.extend(broken.iter().map(|row| format!("a row of {} without its parent", row.get::<String, _>(0))));
        found
    }

    fn rows(&mut self, query: &'static str, bound: Option<i64>) -> Vec<SqliteRow> {
        let query = sqlx::query(query);
        let query = if let Some(value) = bound { query.bind(value) } else { query };
        self.runtime.block_on(query.fetch_all(&mut self.connection)).expect("rows")
    }
}

fn record(row: &SqliteRow) -> Record {
    let text = |name: &str| row.get::<Option<Vec<u8>>, _>(name).map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    let end = row.get::<Option<i64>, _>("succeeded").map(|succeeded| match succeeded {
        1 => Ok(text("output").unwrap_or_default()),
        _ => Err(text("exception_type").unwrap_or_default()),
    });
    let number = row.get::<Option<i64>, _>("number").unwrap_or_default();
    let number = u64::try_from(number).expect("a number of an action");
    Record { position: row.get("position"), id: row.get("invocation"), number, end }
}

fn version(row: &SqliteRow) -> VersionRow {
    let digests = ["image_digest", "bundle_digest"].map(|name| row.get::<Option<String>, _>(name));
    VersionRow {
        tool: row.get("tool"),
        version: row.get("version"),
        commit: row.get("commit_id"),
        digests: digests.into_iter().flatten().collect(),
        is_deprecated: row.get::<i64, _>("deprecated") != 0,
        build: row.get("build"),
        document_bytes: ["log_bytes", "provenance_bytes", "sbom_bytes"].map(|name| row.get(name)),
    }
}
