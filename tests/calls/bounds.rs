//! Bounds of calls: depth, number, cancellation, and many calls at the same time.

use serde_json::{Value, json};

use super::{calling, calls_of, record};
use crate::harness::{Options, Server, Site, Team, eventually, input};

const CALLS_ITSELF: &str = "
    from amigo_tool_scaffold.tools import ToolCallError, call_tool
    try:
        return 1 + (await call_tool('again', {})).json()
    except ToolCallError as error:
        assert error.code == 'budget', error
        return 0
";

#[test]
fn a_tool_that_calls_itself_ends() {
    let team = Team::new();
    let tool = team.tool("again").body(CALLS_ITSELF).manifest("calls = { again = '' }").published();
    let run = tool.invoke(json!({}));
    assert_eq!(run.json(), json!(8));
    let used = calls_of(&team, &run);
    assert_eq!(used[0]["total"]["runs"], 8, "{used:?}");
    assert_eq!(team.history().len(), 9);
}

#[test]
fn a_call_and_its_runs_make_a_hundred_calls() {
    let team = Team::new();
    team.tool("one").body("return 1").published();
    let tool = calling(&team, "many", "one = ''").manifest("timeout_seconds = 120").published();
    let outer = calling(&team, "more", "many = '', one = ''").manifest("timeout_seconds = 120").published();
    let ones = |count: usize| -> Vec<Value> { std::iter::repeat_n(json!(["one", {}]), count).collect() };
    let mut calls = ones(0);
    calls.push(json!(["many", {"calls": ones(60)}]));
    let run = outer.invoke(json!({ "calls": calls }));
    assert_eq!(run.json()[0].as_array().map(Vec::len), Some(60), "{run}");
    let run = tool.invoke(json!({"calls": ones(64)}));
    assert_eq!(run.json(), json!(vec![1; 64]));
    calls.push(json!(["many", {"calls": ones(60)}]));
    let run = outer.invoke(json!({ "calls": calls }));
    let of_both: Vec<Value> = run
        .json()
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|list| list.as_array().expect("a list").clone())
        .collect();
    let refused: Vec<_> = of_both.iter().filter(|answer| answer["code"] == "budget").collect();
    assert_eq!((of_both.len(), refused.len()), (120, 22), "{run}");
    assert!(refused[0]["message"].as_str().expect("a text").contains("at most 100 tools"), "{run}");
}

#[test]
fn calls_beyond_the_bound_are_counted_and_not_listed() {
    let team = Team::new();
    let body = "
        from amigo_tool_scaffold.tools import ToolCallError, call_tool
        for _ in range(250):
            try:
                await call_tool('other', {})
            except ToolCallError:
                pass
        try:
            await call_tool('declared', {'text': 'x' * 300_000})
        except ToolCallError as error:
            return error.code
    ";
    let tool = team.tool("loops").body(body).manifest("calls = { declared = '' }").published();
    let run = tool.invoke(json!({}));
    assert_eq!(run.output(), "invalid_arguments");
    let ledger = record(&team, run.id())["ledger"].clone();
    assert_eq!(ledger["used"]["calls"].as_array().map(Vec::len), Some(100));
    assert_eq!(ledger["refused"]["calls"], 150);
}

/// More calling runs than slots, two levels deep: none waits for ever.
#[test]
fn many_calling_runs_do_not_block_each_other() {
    let team = Team::new();
    team.tool("leaf").body("import asyncio\nawait asyncio.sleep(0.05)\nreturn 1").published();
    calling(&team, "middle", "leaf = ''").manifest("timeout_seconds = 120").published();
    let tool = calling(&team, "top", "middle = ''").manifest("timeout_seconds = 120").published();
    let one = input(&json!({"calls": [["middle", {"calls": [["leaf", {}]]}]]}));
    let body = json!({"inputs": vec![one; 10]});
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| tool.invoke_inputs(&body))).collect();
        for call in calls {
            for run in call.join().expect("an answer") {
                assert_eq!(run.json(), json!([[1]]), "{run}");
            }
        }
    });
}

#[test]
fn a_call_ends_with_the_run_that_made_it() {
    let server = Server::private(&Options::reaching_loopback());
    let team = Team::on(&server);
    let site = Site::serve();
    team.tool("rests").held_by(&site).published();
    let tool = calling(&team, "asks", "rests = ''").manifest("timeout_seconds = 1").published();
    let run = tool.invoke(json!({"calls": [["rests", site.hold()]]}));
    assert_eq!(run.failure().kind, "timeout_wall", "{run}");
    let used = calls_of(&team, &run);
    assert_eq!((&used[0]["error"], &used[0]["is_refused"]), (&json!("cancelled"), &json!(false)), "{used:?}");
    assert!(used[0]["invocation_id"].is_string(), "the ledger has the run that was cancelled: {used:?}");
    let ended = eventually("the inner run ends", || {
        let inner = team.history().into_iter().find(|one| one["id"] != run.id())?;
        let inner = record(&team, inner["id"].as_str()?);
        (inner["state"] != "running").then_some(inner)
    });
    assert_eq!(ended["invocation_status"]["exception_type"], "cancelled", "{ended}");
}
