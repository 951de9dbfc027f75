//! `/metrics` on its own listener.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Options, Server, Team, eventually, input};

const OPERATIONS: &str = include_str!("../../docs/reference/monitoring.md");

/// A request for each status.
const REQUESTS_OF_TESTS: &str = "lathe_http_requests_total{route=\"/v1/{organization}/tool/test\"";

fn measured() -> Arc<Server> {
    let arguments = ["--metrics-listen", "127.0.0.1:0", "--rate-limits", "contract"];
    Server::private(&Options { arguments: arguments.map(str::to_owned).to_vec(), ..Options::default() })
}

/// Returns all metrics, by name with labels.
struct Scraped(BTreeMap<String, f64>, BTreeSet<String>);

/// The URL of a server's metrics.
fn url_of(server: &Server) -> String {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("http://")).expect("a URL").1;
    format!("http://{}", url.trim_end_matches('"'))
}

impl Scraped {
    fn from(server: &Server) -> Self {
        let text = crate::harness::fetch(&url_of(server));
        let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
        let samples = samples.map(|(name, value)| (name.to_owned(), value.parse().expect("a number"))).collect();
        let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        Self(samples, names.map(str::to_owned).collect())
    }

    #[track_caller]
    fn value(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("no {name} in {:#?}", self.0.keys()))
    }
}

#[test]
fn metrics_contain_no_names_of_users_or_tools() {
    let server = measured();
    let team = Team::on(&server);
    let tool =
        team.tool("greet").body("if tool_input.get('fail'):\n    raise KeyError('x')\nreturn 'hello'").published();
    tool.invoke(json!({}));
    tool.invoke_request(&json!({"inputs": [input(&json!({"fail": true})), input(&json!({}))]})).send().expect(200);
    team.request("GET", "/tool/nowhere/at/all").send();
    team.request("PUT", "/tool/").send();
    // One call per minute: of two concurrent calls, one is refused.
    let broken = team.tool("broken").body("return (").pushed();
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(|| broken.test(&json!({}))))));

    // Requests are counted, and permits released, a moment after the response.
    let scraped = eventually("the last of it", || {
        let scraped = Scraped::from(&server);
        let tests = scraped.0.keys().filter(|name| name.starts_with(REQUESTS_OF_TESTS)).count();
        (tests == 2 && scraped.value("lathe_work_running{work=\"runs\"}") == 0.0).then_some(scraped)
    });
    let invoke = "/v1/{organization}/tool/{tool_id}/version/{version}/invoke";
    let requests = |route: &str, method: &str, status: u16| {
        let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
        scraped.value(&format!("lathe_http_requests_total{{{labels}}}"))
    };
    assert_eq!(requests(invoke, "POST", 200), 2.0);
    assert_eq!(requests("unmatched", "GET", 404), 1.0);
    assert_eq!(requests("/v1/{organization}/tool", "PUT", 405), 1.0);
    assert_eq!(requests("/v1/{organization}/tool/test", "POST", 400), 1.0);
    assert_eq!(requests("/v1/{organization}/tool/test", "POST", 429), 1.0);
    let seconds = format!("lathe_http_request_duration_seconds_count{{route=\"{invoke}\",method=\"POST\"}}");
    assert_eq!(scraped.value(&seconds), 2.0);
    assert_eq!(scraped.value("lathe_http_rate_limited_total{operation=\"test-tool\"}"), 1.0);
    assert_eq!(scraped.value("lathe_runs_total{outcome=\"succeeded\",language=\"python\"}"), 2.0);
    assert_eq!(scraped.value("lathe_runs_total{outcome=\"exception\",language=\"python\"}"), 1.0);
    assert_eq!(scraped.value("lathe_run_duration_seconds_count{language=\"python\"}"), 3.0);
    assert_eq!(scraped.value("lathe_work_running{work=\"runs\"}"), 0.0);
    assert_eq!(scraped.value("lathe_work_waiting{work=\"builds\"}"), 0.0);
    assert_eq!(scraped.value("lathe_builds_total{kind=\"publish\",outcome=\"succeeded\",stage=\"\"}"), 1.0);
    assert_eq!(scraped.value("lathe_builds_total{kind=\"test\",outcome=\"failed\",stage=\"compile\"}"), 1.0);
    assert_eq!(scraped.value("lathe_records_written_total{event=\"start\"}"), 3.0);
    assert_eq!(scraped.value("lathe_records_written_total{event=\"end\"}"), 3.0);
    assert!(scraped.value("lathe_database_commit_duration_seconds_count") >= 10.0);
    assert!(scraped.value("lathe_database_commit_writes_bucket{le=\"+Inf\"}") >= 10.0);
    assert!(scraped.value("process_resident_memory_bytes") > 1e6);
    assert!(scraped.value("process_open_fds") > 3.0);
    for name in ["virtual_memory_bytes", "threads", "max_fds", "cpu_seconds_total", "start_time_seconds"] {
        assert!(scraped.value(&format!("process_{name}")) > 0.0, "{name}");
    }
    assert_eq!(scraped.value("lathe_log_lines_dropped_total"), 0.0);
    // The watchdog measures; a server without it has no such gauge.
    assert!(scraped.value("lathe_runtime_stall_seconds") >= 0.0);

    for name in scraped.0.keys() {
        assert!(!name.contains(&team.organization) && !name.contains(tool.id()), "{name}");
    }
    let undocumented: Vec<_> = scraped.1.iter().filter(|name| !OPERATIONS.contains(&format!("`{name}"))).collect();
    assert!(undocumented.is_empty(), "docs/reference/monitoring.md does not know {undocumented:?}");
}

#[test]
fn responses_with_metrics_have_the_headers_of_all_responses() {
    let server = measured();
    let url = url_of(&server);
    let (address, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    for target in [&format!("/{path}"), "/nowhere"] {
        let mut stream = TcpStream::connect(address).expect("a connection");
        write!(stream, "GET {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let head = response.split("\r\n\r\n").next().expect("a head").to_ascii_lowercase();
        for header in ["cache-control: no-store", "x-content-type-options: nosniff"] {
            assert!(head.contains(header), "{header} is missing in {head}");
        }
    }
}

#[test]
fn metrics_are_not_served_with_the_api() {
    let team = Team::new();
    assert_eq!(team.server.request("GET", "/metrics").send().status, 404);
    assert!(team.server.log_about("serving metrics").is_empty());
}

#[test]
fn counters_are_there_before_their_first_event() {
    let server = measured();
    let scraped = Scraped::from(&server);
    for counter in [
        "lathe_database_commits_failed_total",
        "lathe_storage_failures_total{action=\"read\"}",
        "lathe_runs_total{outcome=\"out_of_memory\",language=\"python\"}",
        "lathe_runners_crashed_total{reason=\"died\"}",
        "lathe_work_refused_total{work=\"runs\",bound=\"process\"}",
        "lathe_builds_total{kind=\"publish\",outcome=\"failed\",stage=\"\"}",
        "lathe_build_workers_lost_total",
        "lathe_http_connections_cut_total{reason=\"slow_headers\"}",
    ] {
        assert!(scraped.value(counter).abs() < f64::EPSILON, "{counter}");
    }
    assert!((scraped.value("lathe_nodes") - 1.0).abs() < f64::EPSILON);
    let readers = ["used", "idle"]
        .map(|state| scraped.value(&format!("lathe_database_connections{{pool=\"readers\",state=\"{state}\"}}")));
    assert!(readers.iter().sum::<f64>() >= 1.0, "{readers:?}");
}
