//! Every operation with all of its parameters, with and without a slash at the end of the path.

use serde_json::{Value, json};

use super::ask;
use crate::harness::{Run, Team, Tool, input};

const BODY: &str = "
    if tool_input.get('fail'):
        raise ValueError('refused by itself')
    return [metadata.invocation_mode, config.envvars['URL']]
";

/// Both forms of a path, and of a path with a query.
fn forms(path: &str) -> [String; 2] {
    let (path, query) = path.split_once('?').map_or((path, String::new()), |(path, query)| (path, format!("?{query}")));
    [format!("{path}{query}"), format!("{path}/{query}")]
}

fn get(team: &Team, path: &str) -> Vec<Value> {
    forms(path).map(|path| ask(team, "GET", &path).send().expect(200)).into()
}

/// Sends two requests, which may differ, since some requests cannot be repeated.
fn post(team: &Team, path: &str, bodies: [&Value; 2], status: u16) -> Vec<Value> {
    let requests = forms(path).into_iter().zip(bodies);
    requests.map(|(path, body)| ask(team, "POST", &path).json(body).send().expect(status)).collect()
}

fn delete(team: &Team, paths: [String; 2]) {
    for path in paths {
        ask(team, "DELETE", &path).send().expect(204);
    }
}

pub fn all(team: &Team) {
    let tool =
        team.tool("alpha").manifest("required_envvars = ['URL']").manifest("required_secret_envvars = ['TOKEN']");
    let tool = tool.body(BODY).pushed();
    let [alpha, beta] = tools(team);
    let tool = tool.with_id(&alpha);
    variables(team, &alpha);
    branch_tests(team, &tool);
    publications(team, &tool);
    invocations(team, &alpha);
    lists(team, &alpha, &beta);
    history(team, &alpha, &beta);
    files(team);
    let version = |constraint: &str| format!("/tool/{alpha}/version/{constraint}");
    delete(team, [version("1.0.0"), version("%3E%3D1.1%2C%3C1.1.1/")]);
    delete(team, [format!("/tool/{alpha}"), format!("/tool/{beta}/")]);
}

fn tools(team: &Team) -> [String; 2] {
    let tool =
        |name: &str| json!({"name": name, "description": " Of the table. ", "tags": {"team": "red", "new": null}});
    let created = post(team, "/tool", [&tool("alpha"), &tool("beta")], 201);
    let ids = [0, 1].map(|index: usize| created[index]["id"].as_str().expect("an id").to_owned());
    let changes = [json!({"description": "Changed."}), json!({"tags": {"team": "blue"}})];
    post(team, &format!("/tool/{}", ids[1]), [&changes[0], &changes[1]], 204);
    ids
}

fn variables(team: &Team, tool: &str) {
    let insert = |name: &str, is_secret: bool| json!({"name": name, "value": "v", "is_secret": is_secret});
    let inserts = json!({"inserts": [insert("URL", false), insert("TOKEN", true), insert("OLD", false)]});
    let changes = json!({"updates": [{"name": "URL", "value": "here"}], "deletes": [{"name": "OLD"}]});
    post(team, &format!("/tool/{tool}/envvar"), [&inserts, &changes], 204);
}

fn inputs() -> Value {
    let regular = input(&json!({"fail": false}));
    let mut simulated = input(&json!({"fail": true}));
    simulated["invocation_mode"] = json!("conversation-simulation");
    simulated["nonsensitive_user_variables"] = json!({"locale": "de"});
    simulated["sensitive_user_variables"] = json!({"pin": "1234"});
    json!([regular, simulated])
}

fn check_results(answer: &Value) {
    let results = answer["invocation_results"].as_array().expect("a list");
    assert_eq!(Run(results[0].clone()).json()[0], "regular");
    assert_eq!(Run(results[1].clone()).failure().message, "refused by itself");
}

fn branch_tests(team: &Team, tool: &Tool<'_>) {
    let body = json!({
        "inputs": inputs(), "commit_branch": team.branch(), "project_path": tool.path(),
        "required_envvars": {"URL": "there"}, "required_secret_envvars": {"TOKEN": "t"},
    });
    post(team, "/tool/test", [&body, &body], 200).iter().for_each(check_results);
}

/// Versions 1.0.0, 1.1.0 and 1.1.1.
fn publications(team: &Team, tool: &Tool<'_>) {
    let body = |bump: &str| json!({"project_path": tool.path(), "bump_type": bump});
    let path = format!("/tool/{}/version", tool.id());
    let first = post(team, &path, [&body("major"), &body("minor")], 201);
    assert_eq!([&first[0]["new_version"], &first[1]["new_version"]], ["1.0.0", "1.1.0"]);
    // The same commit with the same bump is published again only with an idempotency key.
    for (path, bump) in forms(&path).iter().zip(["patch", "minor"]) {
        ask(team, "POST", path).header("idempotency-key", bump).json(&body(bump)).send().expect(201);
    }
}

fn invocations(team: &Team, tool: &str) {
    let metadata =
        json!({"type": "engage-user", "current_state_machine_and_version": ["greet", 1], "tool_call_round_index": 0});
    let conversation = json!({
        "type": "regular-conversation", "user_id": "u", "conversation_id": "c".repeat(24),
        "interaction_id": "d".repeat(24), "invocation_metadata": metadata,
    });
    let simulation = json!({
        "type": "simulation-conversation", "simulation_unit_test_set_run_id": "e".repeat(24),
        "unit_test_id": "f".repeat(24), "run_index": 3, "invocation_metadata": metadata,
    });
    let body = |source: &Value| json!({"inputs": inputs(), "invocation_source": source});
    let path = format!("/tool/{tool}/version/1.1.0/invoke");
    post(team, &path, [&body(&conversation), &body(&simulation)], 200).iter().for_each(check_results);
}

fn lists(team: &Team, alpha: &str, beta: &str) {
    let tools = format!("/tool?id={alpha}&id={beta}&sort_by=%2Bname&sort_by=-deprecated&deprecated=false");
    get(team, &format!("{tools}&tag=team:*&tag=team:blue"));
    let page = get(team, &format!("{tools}&limit=1"));
    let token = &page[0]["continuation_token"];
    let rest = get(team, &format!("{tools}&limit=20&continuation_token={token}"));
    assert!(rest[0]["filter_values"].is_null() && rest[0] == rest[1], "{rest:?}");
    get(team, "/tool?deprecated=true");
    let versions = format!("/tool/{alpha}/version");
    let creators = format!("creator={0},{1}&creator={0},eve", team.organization, team.user);
    let filters = format!("versions=%3E%3D1%2C%3C2&sort_by=+version.major&sort_by=-created_at&{creators}");
    let page = get(team, &format!("{versions}?{filters}&limit=1&deprecated=false"));
    let token = &page[0]["continuation_token"];
    let rest = get(team, &format!("{versions}?{filters}&limit=50&deprecated=false&continuation_token={token}"));
    assert_eq!(rest[0]["tool_versions"].as_array().map(Vec::len), Some(3), "the newest came first");
    get(team, &format!("{versions}?deprecated=true"));
}

fn history(team: &Team, alpha: &str, beta: &str) {
    let kinds = "invocation_source_type=regular-conversation&invocation_source_type=simulation-conversation";
    let ids = |name: &str, id: &str| format!("{name}={}&{name}={}", id.repeat(24), "0".repeat(24));
    let tools = format!("tool_id={alpha}&tool_id={beta}");
    let filters = format!("succeeded=true&{kinds}&{tools}&version=1.*&version=%3E%3D2");
    let list = format!("/tool/invocation?{filters}&sort_by=-created_at&sort_by=%2Bduration_ms");
    let page = get(team, &format!("{list}&limit=1"));
    let token = &page[0]["continuation_token"];
    get(team, &format!("{list}&continuation_token={token}"));
    get(team, &format!("/tool/invocation?succeeded=false&{}", ids("conversation_id", "c")));
    get(team, &format!("/tool/invocation?{}", ids("simulation_unit_test_set_run_id", "e")));
    let fields = ["exception_message", "exception_type", "exception_stack_trace", "output"];
    let fields = fields.map(|field| format!("query_against=invocation_status.{field}")).join("&");
    let search = format!("/tool/invocation/search?query=refused&{fields}");
    let found = get(team, &format!("{search}&succeeded=false&{tools}&{kinds}"));
    assert_eq!(found[0]["tool_invocations"].as_array().map(Vec::len), Some(2), "{:?}", found[0]);
    get(team, &format!("{search}&succeeded=true&{}", ids("conversation_id", "c")));
    get(team, &format!("{search}&{}", ids("simulation_unit_test_set_run_id", "e")));
}

/// Reads the archive, and the references in git's protocol version 2.
fn files(team: &Team) {
    for path in forms("/tool/amigo_tool_scaffold.tar.gz") {
        let archive = ask(team, "GET", &path).send();
        assert_eq!((archive.status, &archive.body[..2]), (200, &[0x1f, 0x8b][..]));
    }
    let git = |method: &str, path: &str| ask(team, method, &format!("/tool/git/tools.git/{path}"));
    let announced = git("GET", "info/refs?service=git-upload-pack").header("git-protocol", "version=2").send();
    assert_eq!(announced.status, 200);
    assert!(announced.body.windows(9).any(|window| window == b"version 2"), "{announced}");
    let request = git("POST", "git-upload-pack").header("git-protocol", "version=2");
    let request = request.header("content-type", "application/x-git-upload-pack-request");
    let listed = request.plain_body("0014command=ls-refs\n0000").send();
    assert_eq!(listed.status, 200);
    assert!(String::from_utf8_lossy(&listed.body).contains(&format!("refs/heads/{}", team.branch())), "{listed}");
}
