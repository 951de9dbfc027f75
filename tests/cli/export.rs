//! `lathe history export`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use nix::sys::signal::Signal;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::harness::{Options, Process, Server, Site, Team, Terminal, Tool, eventually, input, needs};

/// Inputs of one invoke, at most.
const INPUTS_MAX: usize = 10;

/// Replies in several ways, and sends one status event.
const BODY: &str = "
    if 'held' in tool_input:
        import urllib.request
        urllib.request.urlopen(tool_input['held']).read()
    if tool_input.get('way') == 'fail':
        raise ValueError('壊れた\\0')
    if tool_input.get('way') == 'nul':
        return 'a\\0b'
    if tool_input.get('way') == 'japanese':
        print('印刷')
        await send_status_event('進行中')
        return '日本語の出力 \\'quoted\\' \\n line'
    return 'plain'
";

fn mixed<'t>(team: &'t Team, site: &Site) -> Tool<'t> {
    let tool = team.tool("mixed").body(BODY).manifest(&format!("allowed_hosts = ['{}']", site.address));
    tool.manifest("timeout_seconds = 300").published()
}

/// Makes records of several kinds: more than a page.
fn make_records(tool: &Tool<'_>) {
    for way in ["japanese", "nul", "fail"] {
        tool.invoke(json!({"way": way}));
    }
    tool.test(&json!({"way": "branch"})).expect(200);
    for _ in 0..10 {
        tool.invoke_inputs(&json!({"inputs": vec![input(&json!({"add": 2})); INPUTS_MAX]}));
    }
}

/// The records that the API lists, page by page, byte for byte.
fn listed(team: &Team, filter: &[(&str, &str)]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Page {
        tool_invocations: Vec<Box<RawValue>>,
        continuation_token: Option<u64>,
    }
    let (mut records, mut token) = (Vec::new(), Some(0));
    while let Some(next) = token {
        let next = next.to_string();
        let query = [filter, &[("limit", "7"), ("continuation_token", &next)]].concat();
        let answer = team.request("GET", "/tool/invocation").query(&query).send();
        let page: Page = serde_json::from_slice(&answer.body).expect("a page");
        records.extend(page.tool_invocations.iter().map(|record| record.get().to_owned()));
        token = page.continuation_token;
    }
    records
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn names_in(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.into_string().expect("UTF-8")).collect()
}

/// What DuckDB reads from a Parquet file: columns with their types, and rows. `None` without DuckDB.
#[track_caller]
fn read_by_duckdb(file: &Path) -> Option<Value> {
    let python = needs::DUCKDB.require(std::env::var("LATHE_DUCKDB_PYTHON").ok())?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/export/read.py");
    let said = Command::new(python).arg(script).arg(file).output().expect("Python runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(serde_json::from_slice(&said.stdout).expect("JSON"))
}

/// Opens the latch of a site at its end, also that of a failed test.
struct Opening<'site>(&'site Site);

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.held.open();
    }
}

#[test]
fn an_export_has_the_records_that_the_api_lists() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = mixed(&team, &site);
    make_records(&tool);
    let held = json!({"inputs": [input(&site.hold())]});
    std::thread::scope(|scope| {
        let held = scope.spawn(|| tool.invoke_inputs(&held));
        site.held.is_reached_by(1);
        let opening = Opening(&site);
        exports_match(&team);
        drop(opening);
        held.join().expect("a run");
    });
}

/// Compares exports while one run is going on.
fn exports_match(team: &Team) {
    let lathe = team.lathe();
    let expected = listed(team, &[]);
    assert_eq!(expected.len(), 104, "the run that is going on is left out");
    assert_eq!(lines(&lathe.ok(&["history", "export"])), expected);
    assert_eq!(lines(&lathe.ok(&["history", "export", "--format", "jsonl", "--output", "-"])), expected);
    assert!(expected.iter().any(|line| line.contains("日本語の出力")), "{expected:?}");
    assert!(expected.iter().any(|line| line.contains(r"a\u0000b")), "{expected:?}");

    let file = team.home().join("runs.jsonl");
    let said = lathe.json(&["history", "export", "--output", file.to_str().expect("UTF-8")]);
    assert_eq!((&said["records"], &said["format"]), (&json!(104), &json!("jsonl")), "{said}");
    assert_eq!(lines(&std::fs::read_to_string(&file).expect("a file")), expected);
    assert_eq!(file.metadata().expect("a file").permissions().mode() & 0o777, 0o600);

    for (arguments, filter) in [
        (&["--failed"][..], &[("succeeded", "false")][..]),
        (&["--origin", "branch-test"], &[("origin", "branch-test")]),
        (&["--user", "nobody"], &[("user_id", "nobody")]),
        (&["--origin", "direct", "--origin", "mcp"], &[("origin", "direct"), ("origin", "mcp")]),
        (&["--refused-at", "policy", "--native-tool", "execute"], &[("refused_at", "policy")]),
        (
            &[
                "--agent",
                "aaaaaaaaaaaaaaaaaaaaaaaa",
                "--client",
                "claude-code 2.1",
                "--turn",
                "bbbbbbbbbbbbbbbbbbbbbbbb",
            ],
            &[("agent_id", "aaaaaaaaaaaaaaaaaaaaaaaa")],
        ),
        (&["--state", "running"], &[("state", "running")]),
        (&["--since", "2020-01-01", "--before", "2020-01-02"], &[("created_before", "2020-01-02T00:00:00Z")]),
    ] {
        let said = lathe.ok(&[&["history", "export"], arguments].concat());
        assert_eq!(lines(&said), listed(team, filter), "{arguments:?}");
    }
    assert_eq!(lines(&lathe.ok(&["history", "export", "--tool", "mixed", "--version", "^1"])).len(), 103);
    parquet_matches(team, &expected);
}

fn parquet_matches(team: &Team, expected: &[String]) {
    let file = team.home().join("runs.parquet");
    team.lathe().ok(&["history", "export", "--format", "parquet", "-o", file.to_str().expect("UTF-8")]);
    let mut piped = team.lathe().command(&["history", "export", "--format", "parquet"]);
    let piped = piped.stdin(Stdio::null()).output().expect("the program runs");
    assert_eq!(piped.stdout, std::fs::read(&file).expect("a file"));

    let Some(read) = read_by_duckdb(&file) else { return };
    for (column, kind) in [
        ("id", "VARCHAR"),
        ("started_at", "TIMESTAMP WITH TIME ZONE"),
        ("duration_ms", "BIGINT"),
        ("succeeded", "BOOLEAN"),
        ("output", "VARCHAR"),
        ("output_bytes", "BIGINT"),
    ] {
        assert_eq!(read["columns"][column], kind, "{column}");
    }
    let rows = read["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), expected.len());
    for (row, record) in rows.iter().zip(expected) {
        row_matches(row, &serde_json::from_str(record).expect("a record"));
    }
    let summary = read["summary"].as_array().expect("a row");
    assert_eq!((&summary[0], &summary[1]), (&json!(103), &json!(200)), "{summary:?}");
}

/// Compares a row with the record that the API returns.
fn row_matches(row: &Value, record: &Value) {
    let status = &record["invocation_status"];
    for (column, value) in [
        ("id", &record["id"]),
        ("org_id", &record["org_id"]),
        ("origin", &record["origin"]),
        ("source_type", &record["invocation_source"]["type"]),
        ("user_id", &record["user_id"]),
        ("api_key_id", &record["api_key_id"]),
        ("caller_address", &record["caller_address"]),
        ("commit", &record["tested_branch"]["commit"]),
        ("mode", &record["invocation_mode"]),
        ("agent_id", &record["agent_call"]["agent_id"]),
        ("native_tool", &record["native_tool"]),
        ("refused_at", &record["refused_at"]),
        ("duration_ms", &record["duration_ms"]),
        ("succeeded", &status["succeeded"]),
        ("output", &status["output"]),
        ("output_bytes", &record["output_bytes"]),
        ("exception_type", &status["exception_type"]),
        ("exception_message", &status["exception_message"]),
        ("logs", &record["logs"]),
    ] {
        assert_eq!(&row[column], value, "{column} of {record}");
    }
    for (column, value) in [("inputs", &record["inputs"]), ("status_events", &record["status_events"])] {
        let text = row[column].as_str().expect("JSON text");
        assert_eq!(&serde_json::from_str::<Value>(text).expect("JSON"), value, "{column} of {record}");
    }
    for (column, time) in [("started_at", &record["created_at"]), ("finished_at", &record["updated_at"])] {
        let time: jiff::Timestamp = time.as_str().expect("a time").parse().expect("a time");
        assert_eq!(row[column], json!(time.as_millisecond()), "{column} of {record}");
    }
    let is_test = record["origin"] == "branch-test";
    assert_eq!(row["tool_version"], if is_test { Value::Null } else { json!("1.0.0") });
    assert_eq!(row["tool_id"].is_null(), is_test);
}

#[test]
fn a_file_is_replaced_only_by_request_and_never_half() {
    let team = Team::new();
    let tool = team.tool("greet").published();
    tool.invoke(json!({"name": "Ada"}));
    let (lathe, directory) = (team.lathe(), tempfile::tempdir().expect("a directory"));
    let file = directory.path().join("runs.jsonl");
    let path = file.to_str().expect("UTF-8");
    let export = ["history", "export", "--output", path];
    std::fs::write(&file, "mine").expect("a file");
    lathe.run(&export).refused(1, &["runs.jsonl exists", "--force"]);
    // A failure in the middle keeps the old file.
    lathe.run(&[&export[..], &["--force", "--tool", "absent"]].concat()).refused(1, &["no tool `absent`"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
    lathe.ok(&[&export[..], &["--force"]].concat());
    assert!(std::fs::read_to_string(&file).expect("a file").contains("Ada"));
    assert_eq!(names_in(directory.path()), ["runs.jsonl"]);
    let folder = directory.path().to_str().expect("UTF-8");
    let said = lathe.run(&["history", "export", "--force", "--output", folder]);
    said.refused(1, &["not a regular file"]);
    let inside = format!("{folder}/absent/runs.jsonl");
    lathe.run(&["history", "export", "--output", &inside]).refused(1, &["absent"]);
}

/// A server whose process is stopped, so that an export waits for its first page.
fn stopped_server() -> (Arc<Server>, Team) {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    team.lathe();
    server.signal(Signal::SIGSTOP);
    (server, team)
}

#[test]
fn an_interrupted_export_leaves_no_file() {
    let (server, team) = stopped_server();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("runs.parquet");
    let mut command =
        team.lathe().command(&["history", "export", "--format", "parquet", "-o", file.to_str().expect("UTF-8")]);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut export = Process::start(command);
    eventually("a temporary file", || (names_in(directory.path()).len() == 1).then_some(()));
    assert!(!file.exists());
    export.signal(Signal::SIGINT);
    let status = export.ended_within(crate::harness::PATIENCE).expect("the command ends");
    server.signal(Signal::SIGCONT);
    assert_eq!(status.code(), Some(1));
    assert!(names_in(directory.path()).is_empty(), "{:?}", names_in(directory.path()));
    let said = std::io::read_to_string(export.child().stderr.take().expect("a pipe")).expect("text");
    assert!(said.contains("interrupted by SIGINT"), "{said}");
}

#[test]
fn a_terminal_shows_the_progress_and_refuses_parquet() {
    let (server, team) = stopped_server();
    let file = team.home().join("runs.jsonl");
    let lathe = team.lathe();
    let refused = Terminal::start(lathe.command(&["history", "export", "--format", "parquet"]));
    refused.shows("stdout is a terminal");
    refused.shows("--output runs.parquet");
    assert_eq!(refused.ended().code(), Some(2));
    let export = Terminal::start(lathe.command(&["history", "export", "-o", file.to_str().expect("UTF-8")]));
    export.shows("exporting");
    server.signal(Signal::SIGCONT);
    assert!(export.shown().contains("0 records written to"));
}
