//! Refused requests, one for each error status that an operation documents.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::ask;
use super::held_index::HeldIndex;
use crate::harness::contract::operations;
use crate::harness::{Answer, Bump, Options, Request, SIGNATURE, Server, Team, input};

/// An id that does not exist.
const NOBODY: &str = "ffffffffffffffffffffffff";

/// More bytes than a body may have.
const LARGE: usize = (1 << 20) + 1;

/// A valid request to each operation.
pub fn probes() -> Vec<(&'static str, String, Value)> {
    let tool = json!({"name": "probe", "description": "A probe.", "tags": {}});
    let inputs = json!([input(&json!({}))]);
    let publish = json!({"project_path": "tools/probe", "bump_type": "patch"});
    let search = "/tool/invocation/search?query=x&query_against=invocation_status.output";
    let test = json!({
        "inputs": inputs, "commit_branch": "releases/probe", "project_path": "tools/probe",
        "required_envvars": {}, "required_secret_envvars": {},
    });
    vec![
        ("POST", "/tool/".into(), tool),
        ("GET", "/tool/".into(), Value::Null),
        ("POST", format!("/tool/{NOBODY}"), json!({"description": "Another."})),
        ("DELETE", format!("/tool/{NOBODY}"), Value::Null),
        ("POST", format!("/tool/{NOBODY}/envvar"), json!({"deletes": [{"name": "A"}]})),
        ("POST", "/tool/test".into(), test),
        ("POST", format!("/tool/{NOBODY}/version"), publish),
        ("GET", format!("/tool/{NOBODY}/version"), Value::Null),
        ("DELETE", format!("/tool/{NOBODY}/version/1.0.0"), Value::Null),
        ("POST", format!("/tool/{NOBODY}/version/1.0.0/invoke"), json!({"inputs": inputs})),
        ("GET", "/tool/invocation".into(), Value::Null),
        ("GET", search.into(), Value::Null),
        ("GET", "/tool/amigo_tool_scaffold.tar.gz".into(), Value::Null),
        ("GET", "/tool/git/tools.git/info/refs?service=git-upload-pack".into(), Value::Null),
        ("POST", "/tool/git/tools.git/git-upload-pack".into(), Value::Null),
    ]
}

/// Sends every request, changed by `change`, and expects the same status from all.
pub fn all_are<'t>(status: u16, request: impl Fn(&'static str, &str) -> Request<'t>) {
    for (method, path, body) in probes() {
        let request = request(method, &path);
        let request = if body.is_null() { request } else { request.json(&body) };
        request.send().expect(status);
    }
}

pub fn of_the_request(team: &Team) {
    all_are(401, |method, path| team.server.request(method, &format!("/v1/{}{path}", team.organization)));
    // Another organisation is treated like one that does not exist.
    all_are(404, |method, path| team.server.request(method, &format!("/v1/nobody{path}")).bearer(&team.token));
    let many = vec![("unknown", "x"); 201];
    all_are(422, |method, path| team.request(method, path).query(&many));
    too_large(team);
    cannot_succeed(team);
}

fn too_large(team: &Team) {
    for (method, path, _) in probes() {
        if method != "POST" {
            continue;
        }
        if path.contains("/git/") {
            let request = ask(team, "POST", &path).header("content-type", "application/x-git-upload-pack-request");
            request.announced(5 << 20).expect(413);
        } else {
            team.request("POST", &path).body(vec![b' '; LARGE]).send().expect(413);
        }
    }
}

fn cannot_succeed(team: &Team) {
    let tool = json!({"name": "x".repeat(65), "description": "Too long a name.", "tags": {}});
    team.post("/tool/", &tool).expect(400);
    let (_, _, test) = probes().remove(5);
    let unknown = team.post("/tool/test", &test);
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "unknown_branch"));
    let counted = "
        from dataclasses import dataclass

        @dataclass
        class Count:
            count: int
    ";
    let body = format!("def {}:\n    return 'counted'\n", SIGNATURE.replace("tool_input", "tool_input: Count"));
    let source = format!("{}\n\n{body}", crate::harness::unindented(counted));
    let tool = team.tool("refusals").with_file("tool.py", &source).published();
    let misfit = tool.invoke_request(&json!({"inputs": [input(&json!({"count": "two"}))]})).send();
    assert_eq!((misfit.status, misfit.code().as_str()), (400, "input_schema"));
    let path = format!("/tool/{}", tool.id());
    let insert = json!({"inserts": [{"name": "A", "value": "", "is_secret": false}]});
    team.post(&format!("{path}/envvar"), &insert).expect(204);
    assert_eq!(team.post(&format!("{path}/envvar"), &insert).code(), "already_exists");
    team.post(&format!("{path}/envvar"), &json!({"deletes": [{"name": "B"}]})).expect(400);
    let same = json!({"name": tool.name, "description": "The same name.", "tags": {}});
    team.post("/tool/", &same).expect(409);
    team.request("GET", "/tool/invocation?version=1.0.0").send().expect(400);
    let nowhere = json!({"project_path": "tools/nowhere", "bump_type": "patch"});
    let missing = team.post(&format!("{path}/version"), &nowhere);
    assert_eq!((missing.status, missing.code().as_str()), (404, "missing_project_directory"));
    let above = team.post(&format!("{path}/version"), &json!({"project_path": "tools", "bump_type": "patch"}));
    assert_eq!((above.status, above.code().as_str()), (400, "build_failed"));
    cannot_be_tested(team);
}

fn cannot_be_tested(team: &Team) {
    let (_, _, mut test) = probes().remove(5);
    test["required_envvars"] = json!({"PLACE_1": "north"});
    test["required_secret_envvars"] = json!({"PLACE_1": "south"});
    let twice = team.post("/tool/test", &test);
    assert_eq!((twice.status, twice.code().as_str()), (400, "variable_twice"));
    assert!(twice.detail().contains("PLACE_1"), "{twice}");
}

/// A user whose role has no permissions on tools.
pub fn without_permission(team: &Team) {
    team.post("/role", &json!({"name": "clerk", "grants": [{"permission": "Organization:Admin"}]})).expect(201);
    let clerk = team.joined_by("bob", "clerk");
    all_are(403, |method, path| clerk.request(method, path));
}

/// A server that allows one call per minute to each operation.
pub fn beyond_a_rate() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("lathe.toml");
    // The contract has one operation for both methods of git.
    let names = operations().iter().map(|operation| operation.id.clone()).chain(["post-git-interface".to_owned()]);
    let once: BTreeSet<String> = names.map(|name| format!("{name} = 1\n")).collect();
    let settings = format!("[rate_limits]\n{}", once.into_iter().collect::<String>());
    std::fs::write(&file, settings).expect("a file");
    let arguments = vec!["--config".to_owned(), file.to_str().expect("UTF-8").to_owned()];
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    for (method, path, body) in probes() {
        let request = || {
            let request = team.request(method, &path);
            if body.is_null() { request } else { request.json(&body) }
        };
        request().send();
        let refused = request().send();
        assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"), "{method} {path}");
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"] {
            let number = refused.headers.get(header).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
            assert!(number.is_some(), "{method} {path}: {header}");
        }
    }
}

/// During a publication no other request may change the tool's versions.
pub fn while_a_tool_is_held(team: &Team, index: &HeldIndex) {
    let lock = crate::harness::lock_line("slow", "1.0", b"never fetched");
    let tool = team.tool("held").with_file("requirements.lock", &lock).pushed();
    let path = format!("/tool/{}", tool.id());
    let failed: Answer = std::thread::scope(|scope| {
        let publish = scope.spawn(|| tool.publish(Bump::Patch));
        let held = index.held();
        assert_eq!(tool.publish(Bump::Patch).code(), "operation_in_progress");
        team.delete(&format!("{path}/version/1.0.0")).expect(409);
        team.delete(&path).expect(409);
        drop(held);
        index.turn_away_while(|| publish.is_finished().then_some(()));
        publish.join().expect("the publish is answered")
    });
    assert_eq!((failed.status, failed.code().as_str()), (400, "build_failed"));
}
