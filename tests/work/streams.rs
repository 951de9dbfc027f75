//! Server-sent events of all three kinds of work, and a client that disconnects in the middle.

use serde_json::{Value, json};

use super::{call, invoke_path, read_until, sent};
use crate::harness::{Bump, Event, Options, PackageIndex, Server, Site, Team, eventually, lock_line, package_wheel};

const STREAM: &str = "accept: text/event-stream\r\n";

fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    names.dedup();
    names
}

#[test]
fn publish_test_and_invoke_tell_how_they_go() {
    let team = Team::new();
    let body = "await send_status_event('half', progress=1, total=2)\nreturn 'whole'";
    let tool = team.tool("tells").body(body).pushed();
    let published = tool.publish_request(Bump::Minor).events();
    assert!(published.iter().any(|event| event.name == "log" && event.data["line"].is_string()), "{published:?}");
    let steps = published.iter().filter(|event| event.name == "step" && event.data["state"] == "finished");
    let steps: Vec<&str> = steps.filter_map(|event| event.data["name"].as_str()).collect();
    assert_eq!(
        steps,
        ["checkout", "manifest", "image", "dependencies", "compile", "checks", "gate", "store", "publish"]
    );
    assert_eq!(names(&published)[names(&published).len() - 2..], ["result", "done"]);
    assert_eq!(published[published.len() - 2].data, json!({"new_version": "1.0.0"}));
    let invoked = tool.invoke_request(&call(&json!({}))).events();
    assert_eq!(names(&invoked), ["status", "result", "done"]);
    assert_eq!((&invoked[0].data["message"], &invoked[0].data["progress"]), (&json!("half"), &json!(1.0)));
    let result = &invoked[1].data["invocation_results"][0];
    assert_eq!((&result["output"], &result["invocation_id"]), (&json!("whole"), &invoked[0].data["invocation_id"]));
    let tested = tool.test_events(body);
    for name in ["step", "log", "status", "result", "done"] {
        assert!(names(&tested).contains(&name), "{name} is missing: {tested:?}");
    }
    assert!(tested.iter().all(|event| event.name != "error"), "{tested:?}");
}

/// Readers that take other characters for ends of lines, as Python's `splitlines` does, read the same events.
#[test]
fn an_event_is_one_line_for_every_reader() {
    let team = Team::new();
    let body = "await send_status_event('a\u{2028}b')\nreturn 'c\u{2029}d\u{85}e\\r\\nf'";
    let tool = team.tool("separates").body(body).published();
    let mut stream = sent(&team, &invoke_path(&tool), STREAM, &call(&json!({})));
    let said = read_until(&mut stream, "event: done");
    assert!(!said.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{said:?}");
    assert!(said.contains("a\\u2028b") && said.contains("c\\u2029d\\u0085e\\r\\nf"), "{said:?}");
}

#[test]
fn a_call_continues_without_the_reader_of_its_stream() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let tool = team.tool("sleeper").held_by(&site);
    let body = "await send_status_event('begun')\nimport urllib.request\n\
        urllib.request.urlopen(tool_input['held']).read()\nreturn 'rested'";
    let tool = tool.body(body).published();
    let mut stream = sent(&team, &invoke_path(&tool), STREAM, &call(&site.hold()));
    // The event arrives before there is a result.
    let said = read_until(&mut stream, "event: status");
    assert!(said.contains("text/event-stream") && !said.contains("event: result"), "{said}");
    drop(stream);
    site.held.open();
    let record = eventually("the record", || team.history().first().cloned());
    assert_eq!(record["invocation_status"]["output"], "rested");
    assert_eq!(record["status_events"][0]["message"], "begun");
}

#[test]
fn a_publication_continues_without_the_reader_of_its_stream() {
    let words = package_wheel("words", "1.0", &[("words.py", "WORD = 'done'\n")]);
    let index = PackageIndex::serve_held(&[("words", "words-1.0-py3-none-any.whl", &words)]);
    let options = Options { python_index: Some(index.url.clone()), has_own_cache: true, ..Options::default() };
    let team = Team::on(&Server::private(&options));
    let tool = team.tool("slow").with_file("requirements.lock", &lock_line("words", "1.0", &words)).pushed();
    let body = json!({"project_path": tool.path(), "bump_type": "minor"});
    let path = format!("/tool/{}/version", tool.id());
    let headers = format!("{STREAM}idempotency-key: k\r\n");
    let mut stream = sent(&team, &path, &headers, &body);
    let said = read_until(&mut stream, "event: step");
    assert!(!said.contains("event: result"), "{said}");
    index.held.is_reached_by(1);
    drop(stream);
    index.held.open();
    eventually("the version", || (tool.versions() == ["1.0.0"]).then_some(()));
    let again = || team.request("POST", &path).header("idempotency-key", "k").json(&body);
    // The version exists a moment before its operation has ended.
    eventually("the end of the operation", || (again().send().status != 409).then_some(()));
    let again = again();
    let again: Vec<(String, Value)> = again.events().into_iter().map(|event| (event.name, event.data)).collect();
    assert_eq!(again, [("result".to_owned(), json!({"new_version": "1.0.0"})), ("done".to_owned(), json!({}))]);
}
