//! Recorded answers: responses to regular runs answer equal requests of simulations, for tools that allow it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ASK, ask, authority, ran, reaching};
use crate::harness::{
    Bump, Options, Run, Server, Site, Team, Tool, change_database, count_rows, eventually, input, read_database,
};

const SECRET: &str = "canary-of-the-host";

/// A tool that sends requests to a site, in simulations too, and returns the responses.
fn recording<'t>(team: &'t Team, site: &Site) -> Tool<'t> {
    let tool = team.next_tool().body(ASK).manifest(&format!("allowed_hosts = [\"{}\"]", authority(site)));
    tool.manifest("recorded_answers = true")
}

#[track_caller]
fn simulated(tool: &Tool<'_>, requests: &Value) -> Run {
    let mut one = input(&json!({ "requests": requests }));
    one["invocation_mode"] = json!("conversation-simulation");
    tool.invoke_inputs(&json!({"inputs": [one]})).remove(0)
}

#[track_caller]
fn simulate(tool: &Tool<'_>, request: &Value) -> Value {
    simulated(tool, &json!([request])).json()[0].clone()
}

#[track_caller]
fn refused(said: &Value, words: &str) {
    assert_eq!((&said["type"], &said["code"]), (&json!("EgressRefused"), &json!("simulated")), "{said}");
    assert!(said["message"].as_str().expect("text").contains(words), "{said}");
}

const NONE: &str = "no mock and no recorded answer";

#[test]
fn a_simulation_gets_the_response_to_an_equal_request_of_a_run() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = recording(&team, &site).published();
    let order = json!({"url": site.url("/orders?x=1"), "body": "{\"a\":1}", "headers": {"X-Account": "7"}});
    refused(&simulate(&tool, &order), NONE);
    let regular = ask(&tool, &json!([order, {"url": site.url("/status/204")}]));
    assert_eq!(regular[0]["status"], 200);
    assert_eq!((site.connections(), count_rows(&team, "recorded_answers")), (2, 1), "a GET is not kept");

    let run = simulated(&tool, &json!([order, {"url": site.url("/status/204")}]));
    let said = run.json();
    assert_eq!((&said[0], &said[1]["status"]), (&regular[0], &json!(204)));
    assert_eq!(site.connections(), 3, "only what changes nothing goes out");
    let uses = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"]["used"]["http"].clone();
    assert_eq!((&uses[0]["answered_by"], &uses[1]["answered_by"]), (&json!("recorded"), &json!("network")));
    assert_eq!((&uses[0]["status"], &uses[0]["error"]), (&json!(200), &json!(null)));
    assert_eq!((&uses[0]["sent_bytes"], &uses[0]["received_bytes"]), (&json!(0), &json!(0)));
    let shown = team.lathe().ok(&["history", "show", run.id()]);
    assert!(shown.contains("200 from a recorded answer, 0 bytes sent"), "{shown}");

    for (field, value) in [
        ("body", json!("{\"a\":2}")),
        ("url", json!(site.url("/orders?x=2"))),
        ("method", json!("PUT")),
        ("headers", json!({"X-Account": "8"})),
        ("headers", json!({})),
    ] {
        let mut other = order.clone();
        other[field] = value;
        refused(&simulate(&tool, &other), NONE);
    }
    let many = json!(vec![order; 40]);
    let said = simulated(&tool, &many).json();
    assert_eq!((&said[31]["status"], &said[32]["code"]), (&json!(200), &json!("budget")), "it counts as a request");
    assert_eq!(site.connections(), 3);
}

#[test]
fn answers_belong_to_a_tool_and_to_versions_that_allow_them() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let (team, stranger) = (Team::on(&server), Team::on(&server));
    let tool = recording(&team, &site).published();
    let order = json!({"url": site.url("/orders"), "body": "{\"a\":1}"});
    let answer = ask(&tool, &json!([order]))[0].clone();
    assert_eq!(simulate(&tool, &order), answer);
    refused(&simulate(&recording(&team, &site).published(), &order), NONE);
    refused(&simulate(&recording(&stranger, &site).published(), &order), NONE);

    let tool = tool.with_file("notes.txt", "another version").published();
    assert_eq!(simulate(&tool, &order), answer, "of any version");
    let mock = json!({"request": {"method": "POST", "url": site.url("/orders")}, "response": {"body": "a mock"}});
    let tool = tool.with_file("mocks/orders.json", &mock.to_string()).published();
    assert_eq!(simulate(&tool, &order)["body"], "a mock", "which comes first");

    let tool = tool.renewed().body(ASK).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
    refused(&simulate(&tool, &order), NONE);
    let other = json!({"url": site.url("/orders"), "body": "{\"a\":2}"});
    assert_eq!(ask(&tool, &json!([other]))[0]["status"], 200);
    let tool = tool.manifest("recorded_answers = true").pushed();
    assert_eq!(tool.test(&json!({"requests": [other]})).expect(200)["invocation_results"][0]["succeeded"], true);
    tool.publish(Bump::Minor).expect(201);
    refused(&simulate(&tool, &other), NONE);
    assert_eq!(simulate(&tool, &order), answer);
    assert_eq!((site.connections(), count_rows(&team, "recorded_answers")), (3, 1));
}

#[test]
fn stored_answers_are_encrypted_and_without_credentials() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let says = "
        import urllib.request, urllib.error
        headers = {'Authorization': 'Bearer {{secret:API_KEY}}'}
        request = urllib.request.Request(tool_input['url'], b'canary of a body', headers, method='POST')
        try:
            with urllib.request.urlopen(request) as answer:
                return [answer.status, sorted(name.lower() for name in answer.headers), answer.read().decode()[:2000]]
        except urllib.error.URLError as error:
            return [error.code]
    ";
    let tool = recording(&team, &site).body(says).manifest("required_secret_envvars = ['API_KEY']");
    let tool = tool.manifest(&format!("secret_hosts.API_KEY = [\"{}\"]", authority(&site)));
    tool.set_variables(&[("API_KEY", SECRET, true)]);
    let tool = tool.published();
    let simulated = |path: &str| {
        let mut one = input(&json!({"url": site.url(path)}));
        one["invocation_mode"] = json!("conversation-simulation");
        tool.invoke_inputs(&json!({"inputs": [one]})).remove(0).json()
    };
    let regular = |path: &str| tool.invoke(json!({"url": site.url(path)})).json();
    let said = regular("/receipt");
    assert!(said[1].to_string().contains("set-cookie"), "{said}");
    assert_eq!(simulated("/receipt"), json!([201, ["content-length", "x-order"], "canary of an order"]));
    assert!(regular("/echo")[2].as_str().expect("text").contains("Bearer [redacted]"));
    assert_eq!(simulated("/echo"), json!(["simulated"]), "an answer that says a secret is not kept");
    for path in ["/bytes/70000", "/status/503"] {
        regular(path);
        assert_eq!(simulated(path), json!(["simulated"]), "{path}");
    }
    assert_eq!(count_rows(&team, "recorded_answers"), 1);
    let rows = read_database(&team, "SELECT CAST(request || sealed AS BLOB) AS bytes FROM recorded_answers");
    let files = ["lathe.db", "lathe.db-wal"].map(|file| std::fs::read(server.data().join(file)).unwrap_or_default());
    assert!(rows.len() == 1 && rows[0].len() > 60);
    for word in [SECRET, "canary-of-a-cookie"] {
        let is_in = |bytes: &Vec<u8>| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        assert!(!files.iter().any(is_in), "{word}");
    }
    // Text that the tool returns is in the records of its runs.
    assert!(!String::from_utf8_lossy(&rows[0]).contains("canary"));
}

fn with_hours(hours: &str) -> Arc<Server> {
    reaching(Options { arguments: vec!["--tape-hours".into(), hours.into()], ..Options::default() })
}

#[test]
fn expired_answers_are_deleted() {
    let site = Site::serve();
    let server = with_hours("1");
    let team = Team::on(&server);
    let tool = recording(&team, &site).published();
    let order = json!({"url": site.url("/orders"), "body": "{\"a\":1}"});
    ran(&tool, &json!([order]));
    assert_eq!(simulate(&tool, &order)["status"], 200);
    change_database(server.data(), &["UPDATE recorded_answers SET expires_at = 1"]);
    refused(&simulate(&tool, &order), NONE);
    let id = tool.id().to_owned();
    drop(tool);
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    eventually("the sweep", || {
        let is_told = !server.log_about("expired recorded answers are deleted").is_empty();
        (is_told && count_rows(&team, "recorded_answers") == 0).then_some(())
    });
    refused(&simulate(&team.next_tool().with_id(&id), &order), NONE);

    let keeps_nothing = with_hours("0");
    let team = Team::on(&keeps_nothing);
    let tool = recording(&team, &site).published();
    assert_eq!(ask(&tool, &json!([order]))[0]["status"], 200);
    refused(&simulate(&tool, &order), NONE);
    assert_eq!(count_rows(&team, "recorded_answers"), 0);
}

#[test]
fn an_unreadable_answer_is_refused_and_one_that_cannot_be_kept_fails_no_run() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = recording(&team, &site).published();
    let order = json!({"url": site.url("/orders"), "body": "{\"a\":1}"});
    ran(&tool, &json!([order]));
    assert_eq!(count_rows(&team, "recorded_answers"), 1);
    let unreadable = "its recorded answer cannot be read";
    change_database(server.data(), &["UPDATE recorded_answers SET sealed = CAST(substr(sealed, 1, 40) AS BLOB)"]);
    refused(&simulate(&tool, &order), unreadable);
    assert!(server.log_about("a recorded answer cannot be read").contains(tool.id()));
    assert_eq!(ask(&tool, &json!([order]))[0]["status"], 200);
    assert_eq!(simulate(&tool, &order)["status"], 200, "a newer one takes its place");

    change_database(server.data(), &["DROP TABLE recorded_answers"]);
    let run = ran(&tool, &json!([order]));
    assert_eq!(run.json()[0]["status"], 200);
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["invocation_status"]["output"], run.output());
    assert!(!server.log_about("recorded answers could not be stored").is_empty());
    refused(&simulate(&tool, &order), unreadable);
    assert_eq!(site.connections(), 3);
}
