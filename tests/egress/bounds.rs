//! Limits on requests and responses, and the errors beyond them.

use serde_json::{Value, json};

use super::{ASK, ask, asking, authority, ran, reaching};
use crate::harness::{Options, Site, Team, eventually};

fn said(requests: &Value) -> Vec<Value> {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&site)]);
    let requests = requests.as_array().expect("a list").iter().map(|request| {
        let mut request = request.clone();
        request["url"] = json!(site.url(request["url"].as_str().expect("a path")));
        request
    });
    ask(&tool, &requests.collect())
}

#[test]
fn a_run_makes_thirty_two_requests() {
    let said = said(&json!(vec![json!({"url": "/status/204"}); 34]));
    assert!(said[..32].iter().all(|one| one["status"] == 204), "{said:?}");
    for one in &said[32..] {
        assert_eq!((&one["type"], &one["code"]), (&json!("EgressRefused"), &json!("budget")), "{one}");
    }
}

/// Checks each HTTP limit for a tool that sets a lower value, and for one that sets more than the operator allows.
#[test]
fn a_tool_sets_its_limits_and_the_operator_caps_them() {
    let site = Site::serve();
    let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    let caps = "http_requests = 7\nhttp_request_kb = 2\nhttp_response_kb = 4\nhttp_kb = 9";
    std::fs::write(&file, format!("[run_limits]\n{caps}\n")).expect("settings");
    let arguments = vec!["--config".to_owned(), file.path().to_str().expect("UTF-8").to_owned()];
    let server = reaching(Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let modest = "http_requests = 6, http_request_kb = 1, http_response_kb = 3, http_kb = 5";
    let greedy = "http_requests = 200, http_request_kb = 1_500, http_response_kb = 8_000, http_kb = 30_000";
    for (limits, requests, request_kb, response_kb, kb) in [(modest, 6, 1, 3, 5), (greedy, 7, 2, 4, 9)] {
        let tool = team.tool(&format!("asks_{requests}")).body(ASK).manifest(&format!("limits = {{ {limits} }}"));
        let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
        let get = |bytes: usize| json!({"url": site.url(&format!("/bytes/{bytes}"))});
        let put = |bytes: usize| json!({"url": site.url("/status/204"), "method": "PUT", "body": "x".repeat(bytes)});
        let said =
            ask(&tool, &json!([put((request_kb << 10) + 1), get((response_kb << 10) + 1), put(request_kb << 10)]));
        assert_eq!(said[0]["code"], "request_too_large", "{limits}: {said:?}");
        assert_eq!(said[1]["code"], "response_too_large", "{limits}: {said:?}");
        assert_eq!(said[2]["status"], 204, "{limits}: {said:?}");
        let said = ask(&tool, &json!([get(response_kb << 10), get(response_kb << 10), get(response_kb << 10)]));
        let fits = said.iter().filter(|one| one["bytes"] == response_kb << 10).count();
        assert_eq!(fits, kb / response_kb, "{limits}: {said:?}");
        assert!(["response_too_large", "budget"].contains(&said[2]["code"].as_str().unwrap_or("none")), "{said:?}");
        let said = ask(&tool, &json!(vec![json!({"url": site.url("/status/204")}); requests + 1]));
        assert!(said[..requests].iter().all(|one| one["status"] == 204), "{limits}: {said:?}");
        assert_eq!(said[requests]["code"], "budget", "{limits}: {said:?}");
    }
}

#[test]
fn a_tool_sends_as_many_concurrent_requests_as_it_sets() {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    std::fs::write(&file, "[run_limits]\nhttp_parallel = 2\n").expect("settings");
    let arguments = vec!["--config".to_owned(), file.path().to_str().expect("UTF-8").to_owned()];
    let (free, capped) = (reaching(Options::default()), reaching(Options { arguments, ..Options::default() }));
    // A barrier shows that as many requests are in flight, and the site that there are never more. Each request in
    // flight reserves the bytes of the largest response, so that responses are small here.
    for (server, asked, at_once) in [(&free, 1, 1), (&free, 8, 8), (&capped, 8, 2)] {
        let site = Site::serve();
        let team = Team::on(server);
        let tool = team.tool("many").body(STARTS_MANY);
        let tool = tool.manifest(&format!("limits = {{ http_parallel = {asked}, http_response_kb = 16 }}"));
        let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
        let run = tool.invoke(json!({"url": site.url(&format!("/meet/{at_once}/here")), "count": 8}));
        assert_eq!(run.json(), json!(vec![6; 8]), "{asked}");
        let run = tool.invoke(json!({"url": site.url("/wait/50"), "count": 8}));
        assert_eq!(run.json(), json!(vec![6; 8]), "{asked}");
        assert!(site.waiting_most() <= at_once, "{asked}: {} at once", site.waiting_most());
    }
}

/// Bodies of the highest limit pass every boundary.
#[test]
fn the_largest_bodies_arrive() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let body = "
    import urllib.request
    request = urllib.request.Request(tool_input['put'], b'x' * (1_536 << 10), method='PUT')
    urllib.request.urlopen(request)
    return [len(urllib.request.urlopen(tool_input['get']).read()) for _ in range(3)]
";
    let limits = "limits = { http_request_kb = 1_536, http_response_kb = 8_192, http_kb = 32_768 }";
    let tool = team.tool("large").body(body).manifest(limits);
    let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
    let run = tool.invoke(json!({"put": site.url("/status/204"), "get": site.url(&format!("/bytes/{}", 8 << 20))}));
    assert_eq!(run.json(), json!(vec![8 << 20; 3]), "{run}");
}

/// The server holds waiting bodies up to the byte limit of a run.
#[test]
fn bodies_that_wait_to_be_sent_are_bounded() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("waits").body(STARTS_MANY).manifest("limits = { http_kb = 20, http_parallel = 1 }");
    let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
    let run = tool.invoke(json!({"url": site.url("/wait/300"), "count": 10, "body": "x".repeat(4 << 10)}));
    assert_eq!(run.json()[0], 6, "{run}");
    let http = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"]["used"]["http"].clone();
    for one in &http.as_array().expect("a list")[5..] {
        assert_eq!(one["error"], "budget", "{http}");
    }
    // They are refused immediately: no earlier request is answered here.
    let tool = tool.body(REFUSED_MEANWHILE).published();
    let run = tool.invoke(json!({"url": site.url("/silent"), "count": 10, "body": "x".repeat(4 << 10)}));
    assert_eq!(run.json(), json!(["budget", "budget", "budget", "budget", "budget"]), "{run}");
}

/// Ends when five of the requests have ended.
const REFUSED_MEANWHILE: &str = "
    import asyncio
    from amigo_tool_scaffold.http import fetch
    waiting = {asyncio.create_task(fetch(tool_input['url'], method='POST', body=tool_input['body'])) for _ in range(tool_input['count'])}
    refused = []
    while len(refused) < 5:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        refused += [task.exception().code for task in done]
    return refused
";

#[test]
fn bodies_are_bounded_both_ways() {
    let mebibyte = 1 << 20;
    let said = said(&json!([
        {"url": "/echo", "body": "x".repeat(4_000), "method": "PUT"},
        {"url": format!("/bytes/{}", 4 * mebibyte)},
        {"url": format!("/bytes/{}", 4 * mebibyte + 1)},
        {"url": "/endless"},
        {"url": "/zip"},
        {"url": format!("/bytes/{}", 4 * mebibyte)},
        {"url": format!("/bytes/{}", 4 * mebibyte)},
        {"url": format!("/bytes/{}", 4 * mebibyte)},
        {"url": "/bytes/1"},
    ]));
    let echo: Value = serde_json::from_str(said[0]["body"].as_str().expect("text")).expect("JSON");
    assert_eq!((&echo["method"], echo["body"].as_str().map(str::len)), (&json!("PUT"), Some(4_000)));
    assert_eq!(said[1]["bytes"], 4 * mebibyte);
    assert_eq!((&said[2]["code"], &said[3]["code"]), (&json!("response_too_large"), &json!("response_too_large")));
    assert!(said[4]["body"].as_str().is_some_and(|body| body.ends_with("not unpacked")), "{said:?}");
    assert_eq!(said[5]["bytes"], 4 * mebibyte);
    // The limit of 16 MiB is used up.
    assert_eq!(said[7]["code"], "response_too_large", "{}", said[7]);
    assert_eq!(said[8]["bytes"], 1, "{}", said[8]);
}

#[test]
fn invalid_requests_and_responses_are_exceptions() {
    let said = said(&json!([
        {"url": "/", "headers": {"Host": "other.example.com"}},
        {"url": "/", "headers": {"Content-Length": "7"}, "body": "four"},
        {"url": "/", "headers": {"Transfer-Encoding": "chunked"}, "body": "four"},
        {"url": "/", "headers": {"X": "a\r\nY: b"}},
        {"url": "/", "method": "CONNECT"},
        {"url": format!("/{}", "x".repeat(200_000))},
        {"url": "/", "headers": {"X": "y".repeat(200_000)}},
        {"url": "/garbage"},
        {"url": "/short"},
        {"url": "/headers/100000"},
        {"url": "/status/500"},
    ]));
    for (index, one) in said.iter().enumerate() {
        match index {
            // The library sends chunks, and the host sends their contents with a length.
            2 => assert_eq!(one["status"], 200, "{one}"),
            // The library refuses what would be two headers.
            3 => assert_eq!(one["type"], "ValueError", "{one}"),
            0..7 => assert_eq!(one["code"], "invalid_request", "{index}: {one}"),
            7..10 => {
                assert!(one["message"].as_str().is_some_and(|text| text.contains("the HTTP exchange failed")), "{one}")
            }
            _ => assert_eq!(one["status"], 500),
        }
    }
}

#[test]
fn the_deadline_of_a_run_holds_while_it_waits() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&site)]);
    let tool = tool.manifest("timeout_seconds = 3").published();
    for path in ["/silent", "/drip"] {
        let run = ran(&tool, &json!([{"url": site.url(path)}]));
        assert_eq!(run.failure().kind, "timeout_wall", "{run}");
        assert!(run.duration_ms() >= 3_000, "{run}");
        let ledger = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone();
        assert_eq!(ledger["used"]["http"][0]["error"], "cancelled", "{ledger}");
    }
    // The connection of the stopped run was closed.
    eventually("the end of the connection", || (site.departures() > 0).then_some(()));
}

/// Ten inputs that wait for a server wait at the same time.
#[test]
fn inputs_wait_at_the_same_time() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&site)]);
    let one = crate::harness::input(&json!({"requests": [{"url": site.url("/meet/10/here")}]}));
    let runs = tool.invoke_inputs(&json!({"inputs": vec![one; 10]}));
    assert!(runs.iter().all(|run| run.json()[0]["body"] == "waited"));
}

const STARTS_MANY: &str = "
    import asyncio
    from amigo_tool_scaffold.http import fetch
    async def one():
        try:
            body = tool_input.get('body')
            options = {'method': 'POST', 'body': body} if body else {}
            return len((await fetch(tool_input['url'], timeout=tool_input.get('timeout'), **options)).body)
        except Exception as error:
            return getattr(error, 'code', type(error).__name__)
    return await asyncio.gather(*(one() for _ in range(tool_input['count'])))
";

/// Bytes of requests in flight are reserved before they arrive.
#[test]
fn concurrent_requests_share_the_byte_limit_of_a_run() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("many").body(STARTS_MANY).manifest("memory_mb = 256");
    let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
    let run = tool.invoke(json!({"url": site.url(&format!("/bytes/{}", 3 << 20)), "count": 20}));
    let bodies = run.json().as_array().expect("a list").iter().filter_map(Value::as_u64).sum::<u64>();
    assert!((12 << 20..16 << 20).contains(&bodies), "{run}");
    let small = tool.invoke(json!({"url": site.url("/bytes/10"), "count": 20})).json();
    assert_eq!(small, json!(vec![10; 20]), "whoever waits for bytes that others hold gets them");
}

/// The record contains a cancelled request with the bytes that it sent.
#[test]
fn cancelled_requests_are_counted() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("gives_up").body(STARTS_MANY);
    let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site))).published();
    let run = tool.invoke(json!({"url": site.url("/drip"), "count": 1, "timeout": 5}));
    assert_eq!(run.json(), json!(["TimeoutError"]));
    let one = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"]["used"]["http"][0].clone();
    assert_eq!(one["error"], "cancelled", "{one}");
    assert!(one["sent_bytes"].as_u64() > Some(50) && one["received_bytes"].as_u64() > Some(20), "{one}");
    assert!(one["duration_ms"].as_u64() >= Some(4_900), "{one}");
}

/// A response is copied into memory before the tool could notice that there is not enough.
#[test]
fn a_response_larger_than_memory_ends_the_run_as_out_of_memory() {
    let (site, server) = (Site::serve(), reaching(Options::default()));
    let team = Team::on(&server);
    let fills = "
        import urllib.request
        held = []
        try:
            while True:
                held.append(bytearray(tool_input['step']))
        except MemoryError:
            pass
        try:
            return str(len(urllib.request.urlopen(tool_input['url']).read()))
        except MemoryError:
            held.clear()
            return 'MemoryError'
    ";
    let manifest = format!("allowed_hosts = [\"{}\"]", authority(&site));
    let tool = team.tool("full").body(fills).manifest(&manifest).published();
    for (step, bytes) in [(1 << 20, 3 << 20), (1 << 16, 1 << 20), (1 << 12, 4 << 20)] {
        let run = tool.invoke(json!({"step": step, "url": site.url(&format!("/bytes/{bytes}"))}));
        match run.0["succeeded"].as_bool() {
            Some(true) => assert_eq!(run.output(), "MemoryError", "{step}, {bytes}"),
            _ => assert_eq!(run.failure().kind, "out_of_memory", "{step}, {bytes}: {run}"),
        }
    }
    let small = tool.invoke(json!({"step": 1 << 20, "url": site.url("/bytes/10")}));
    assert_eq!(small.output(), "10");
}
