//! The log as JSON lines, and the access log.

use serde_json::{Value, json};

use crate::harness::{Options, Server, Team, eventually};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Returns the access line of a request, which is written after its response.
fn line(server: &Server, id: &str) -> Value {
    eventually("the line of the request", || {
        let about = server.log_about(id);
        let lines = about
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
        lines.into_iter().find(|line| line["target"] == "api::access")
    })
}

#[test]
fn every_request_leaves_one_line_without_secrets() {
    let arguments = ["--log-format", "json", "--log", "debug"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let body = json!({"name": "Not A Name", "description": "canary-in-the-body", "tags": {}});
    let request = team.request("POST", "/tool/?canary-in-the-query=1").json(&body);
    let request = request
        .header("x-request-id", "from-the-proxy")
        .header("traceparent", &format!("00-{TRACE}-b7ad6b7169203331-00"));
    let refused = request.send();
    let id = refused.headers["x-request-id"].to_str().expect("text").to_owned();
    assert_ne!(id, "from-the-proxy");

    let line = line(&server, &id);
    let expected = json!({
        "level": "INFO", "target": "api::access", "message": "request",
        "request_id": id, "client_request_id": "from-the-proxy", "trace_id": TRACE,
        "method": "POST", "route": "/v1/{organization}/tool", "status": 422,
        "organization": team.organization, "user": team.user, "peer": "127.0.0.1",
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&line[name], value, "{name} in {line:#}");
    }
    assert!(line["duration_ms"].is_u64() && line.get("cut_off").is_none(), "{line:#}");

    let tool = team.tool("traced").body("return 'here'").published();
    let body = json!({"inputs": [crate::harness::input(&json!({})), crate::harness::input(&json!({}))]});
    let ran = tool.invoke_request(&body).send();
    let runs: Vec<_> = ran.expect(200)["invocation_results"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| run["invocation_id"].as_str().expect("an id").to_owned())
        .collect();
    let line = self::line(&server, ran.headers["x-request-id"].to_str().expect("text"));
    assert_eq!((&line["tool"], &line["runs"]), (&json!(tool.id()), &json!(runs.join(","))), "{line:#}");
    let named = team.post("/tool/by-name/traced/version/1.0.0/invoke", &body);
    assert_eq!(named.status, 200, "{named:?}");
    let line = self::line(&server, named.headers["x-request-id"].to_str().expect("text"));
    assert_eq!(line["tool"], tool.id(), "{line:#}");
    let shown = team.request("GET", &format!("/tool/invocation/{}", runs[0])).send();
    let line = self::line(&server, shown.headers["x-request-id"].to_str().expect("text"));
    assert_eq!((line.get("tool"), &line["runs"]), (None, &json!(runs[0])), "{line:#}");

    let unsigned = server.request("GET", "/v1/nobody/tool").send();
    let id = unsigned.headers["x-request-id"].to_str().expect("text");
    let line = self::line(&server, id);
    assert_eq!((&line["status"], line.get("organization")), (&json!(401), None), "{line:#}");

    let log = server.log_about("");
    let access = log.lines().filter(|line| line.contains("api::access") && line.contains(id));
    assert_eq!(access.count(), 1);
    for secret in [team.token.as_str(), team.api_key.as_str(), "canary"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

/// The response of failed runs has the status 200.
#[test]
fn the_line_of_a_request_tells_how_many_of_its_runs_failed() {
    let arguments = ["--log-format", "json"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let tool =
        team.tool("fails").body("if tool_input.get('fail'):\n    raise KeyError('x')\nreturn 'fine'").published();
    let input = |fail: bool| crate::harness::input(&json!({"fail": fail}));
    let failed = tool.invoke_request(&json!({"inputs": [input(true), input(false), input(true)]})).send();
    failed.expect(200);
    let line = self::line(&server, failed.headers["x-request-id"].to_str().expect("text"));
    assert_eq!((&line["status"], &line["failed_runs"]), (&json!(200), &json!(2)), "{line:#}");
    let fine = tool.invoke_request(&json!({"inputs": [input(false)]})).send();
    let line = self::line(&server, fine.headers["x-request-id"].to_str().expect("text"));
    assert_eq!(line.get("failed_runs"), None, "{line:#}");
}

#[test]
fn probes_leave_no_line_and_publications_do() {
    let arguments = ["--log-format", "json"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let ready = eventually("a ready server", || {
        let answer = server.request("GET", "/health/ready").send();
        (answer.status == 200).then_some(answer)
    });
    let live = server.request("GET", "/health/live").send();
    let tool = team.tool("told").body("return 1").published();
    let published = eventually("the event", || {
        let about = server.log_about("\"published\"");
        about.lines().find_map(|line| serde_json::from_str::<Value>(line).ok().filter(|line| line["tool"] == tool.id()))
    });
    assert_eq!((&published["level"], &published["version"]), (&json!("INFO"), &json!("1.0.0")), "{published:#}");
    assert_eq!(published["organization"], team.organization, "{published:#}");
    assert!(server.log_about("the language image is ready").contains("duration_ms"));
    // The request of the publication came later, and has its line.
    for probe in [ready, live] {
        let id = probe.headers["x-request-id"].to_str().expect("text");
        assert_eq!(server.log_about(&format!("\"{id}\"")), "", "a probe");
    }
}
