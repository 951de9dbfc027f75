//! Outbound requests in replays: the recording answers them, and nothing is sent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ended, identical, recorded, replay};
use crate::harness::{Options, Server, Site, Team, Tool, change_database, count_rows, input};

const BEFORE: &str = "
    import asyncio, hashlib, random, time, urllib.error, urllib.request, uuid
    from amigo_tool_scaffold.http import fetch
";

/// Sends requests in every way, to a site that answers in every way.
pub(super) const BODY: &str = "
    site, said = tool_input['site'], []
    async def ask(path, **options):
        try:
            answer = await fetch(site + path, **options)
            return [answer.status, hashlib.sha256(answer.body).hexdigest(), sorted(answer.headers.keys())]
        except Exception as error:
            return f'{type(error).__name__}: {error} at {time.time_ns()}'
    said.append(await ask('/echo', method='POST', json={'id': str(uuid.uuid4()), 'n': random.random()}))
    said.append(await asyncio.gather(ask('/wait/30'), ask('/wait/10'), ask('/bytes/300000'), ask('/status/503')))
    said.append(await asyncio.gather(ask('/silent', timeout=0.05), ask('/garbage'), ask('/short')))
    said.append(await ask('/echo', headers={'X-Key': '{{secret:API_KEY}}'}))
    with urllib.request.urlopen(site + '/bytes/300000') as answer:
        said.append(len(answer.read()))
    try:
        urllib.request.urlopen('https://api.example.com/')
    except urllib.error.URLError as error:
        said.append([type(error).__name__, str(error.reason)])
    try:
        urllib.request.urlopen(site + '/silent', timeout=0.05)
    except OSError as error:
        said.append(str(error))
    leave = asyncio.create_task(fetch(site + '/silent'))
    await asyncio.sleep(0.01)
    told = (await fetch(site + '/echo', headers={'X-Key': '{{secret:API_KEY}}'})).text()
    return {'said': said, 'time': time.time_ns(), 'told': told}
";

const SECRET: &str = "canary-of-the-host";

pub(super) fn server() -> Arc<Server> {
    let arguments = vec!["--egress-networks".to_owned(), "127.0.0.0/8".to_owned()];
    Server::private(&Options { arguments, ..Options::default() })
}

pub(super) fn asking<'t>(team: &'t Team, site: &Site, body: &str) -> Tool<'t> {
    let host = json!([site.address.to_string()]);
    let tool = team.next_tool().source(BEFORE, body).manifest(&format!("allowed_hosts = {host}"));
    let tool =
        tool.manifest("required_secret_envvars = ['API_KEY']").manifest(&format!("secret_hosts.API_KEY = {host}"));
    tool.set_variables(&[("API_KEY", SECRET, true)]);
    tool.published()
}

#[test]
fn requests_are_answered_from_the_tape_and_not_sent() {
    let (site, server) = (Site::serve(), server());
    let team = Team::on(&server);
    let tool = asking(&team, &site, BODY);
    let runs: Vec<_> = (0..8).map(|_| tool.invoke(json!({"site": site.url("")}))).collect();
    let asked = site.connections();
    // Without requests that are cancelled after a moment, perhaps before they connect.
    assert!(asked >= 8 * 10, "{asked} connections");
    for run in &runs {
        assert!(run.output().contains("[redacted]"), "{run}");
        let answer = identical(&team, run.id());
        assert_eq!(ended(&answer), recorded(&team, run.id()));
        assert!(!answer.to_string().contains("canary"), "{answer}");
    }
    assert_eq!(site.connections(), asked, "a replay reached out");
    for file in ["lathe.db", "lathe.db-wal"] {
        let bytes = std::fs::read(server.data().join(file)).unwrap_or_default();
        for word in ["canary", "xxxxxxxxxxxxxxxxxxxxxxxx"] {
            assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{word} is in {file}");
        }
    }
    assert_eq!(bodies(&team), 1, "equal bodies are kept once");
    let spoil = "UPDATE tape_bodies SET sealed = CAST(substr(sealed, 1, 99) || x'00' || substr(sealed, 101) AS BLOB)";
    change_database(server.data(), &["DROP TRIGGER tape_bodies_never_updated", spoil]);
    let refused = replay(&team, runs[0].id(), &json!({}));
    assert_eq!((refused.status, refused.code()), (400, "tape_damaged".into()));
}

fn bodies(team: &Team) -> i64 {
    count_rows(team, "tape_bodies")
}

#[test]
fn a_simulation_is_replayed_from_its_tape_and_not_from_mocks() {
    let (site, server) = (Site::serve(), server());
    let team = Team::on(&server);
    let orders = "
        said = []
        for path in ['/mocked', '/recorded', '/refused']:
            try:
                answer = await fetch(tool_input['site'] + path, method='POST', body='order')
                said.append([answer.status, answer.text()])
            except urllib.error.URLError as error:
                said.append([error.code, str(error.reason)])
            if tool_input['regular'] and path == '/recorded':
                break
        return said
    ";
    let mock = json!({"request": {"method": "POST", "url": site.url("/mocked")}, "response": {"status": 202}});
    let tool = team.next_tool().source(BEFORE, orders).with_file("mocks/a.json", &mock.to_string());
    let tool = tool.manifest(&format!("allowed_hosts = {}", json!([site.address.to_string()])));
    let tool = tool.manifest("recorded_answers = true").published();
    let regular = tool.invoke(json!({"site": site.url(""), "regular": true}));
    let asked = site.connections();
    let mut one = input(&json!({"site": site.url(""), "regular": false}));
    one["invocation_mode"] = json!("conversation-simulation");
    let run = tool.invoke_inputs(&json!({"inputs": [one]})).remove(0);
    let said = run.json();
    assert_eq!((&said[0], &said[1]), (&json!([202, ""]), &regular.json()[1]), "{said}");
    assert_eq!(said[2][0], "simulated");
    let kept = count_rows(&team, "recorded_answers");
    assert_eq!((site.connections(), kept), (asked, 2));
    for spoil in ["UPDATE recorded_answers SET sealed = x'01'", "DELETE FROM recorded_answers"] {
        change_database(server.data(), &[spoil]);
        for run in [&run, &regular] {
            identical(&team, run.id());
        }
    }
    assert_eq!((site.connections(), count_rows(&team, "recorded_answers")), (asked, 0), "a replay keeps nothing");
}

#[test]
fn other_code_gets_the_responses_to_equal_requests_only() {
    let (site, server) = (Site::serve(), server());
    let team = Team::on(&server);
    let first = "
        one = await fetch(tool_input['site'] + '/bytes/10')
        two = await fetch(tool_input['site'] + '/echo', method='POST', body='same')
        return [one.status, two.text()]
    ";
    let tool = asking(&team, &site, first);
    let run = tool.invoke(json!({"site": site.url("")}));
    let asked = site.connections();
    let second = "
        two = await fetch(tool_input['site'] + '/echo', method='POST', body='same')
        try:
            one = await fetch(tool_input['site'] + '/bytes/11')
        except urllib.error.URLError as error:
            return [error.code, two.text()]
    ";
    let tool = tool.source(BEFORE, second).published();
    let answer = replay(&team, run.id(), &json!({"version": "1.1.0"})).expect(200);
    assert_eq!(site.connections(), asked);
    let output: Value =
        serde_json::from_str(answer["invocation_result"]["output"].as_str().expect("text")).expect("JSON");
    assert_eq!(output, json!(["simulated", run.json()[1]]));
    let requests: Vec<_> = answer["differences"].as_array().expect("a list").iter().collect();
    let said = |side: &str, path: &str| {
        requests.iter().any(|one| one["what"] == "effect" && one[side].as_str().is_some_and(|text| text.contains(path)))
    };
    assert!(said("recorded", "/bytes/10 ") && said("replayed", "/bytes/11 "), "{answer}");
    assert!(!said("recorded", "/echo") && !said("replayed", "/echo"), "{answer}");
    drop(tool);
}
