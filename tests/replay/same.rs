//! Replays by the same version: byte for byte the same, although the tools use clocks and random numbers.

use serde_json::{Value, json};

use super::{ended, identical, recorded, replay};
use crate::harness::{Run, Team, input};

const BEFORE: &str = "import asyncio, os, random, secrets, sys, time, uuid, datetime, logging";

/// Uses everything that differs between runs, and ends in every way.
const BODY: &str = "
    n = tool_input['n']
    print('started', time.time_ns(), uuid.uuid4())
    await send_status_event(f'event {random.random()}', progress=random.random(), data={'at': time.time()})
    await asyncio.gather(*(asyncio.sleep(random.random() / 200) for _ in range(n % 4)))
    time.sleep(0.001 * (n % 3))
    logging.warning('careful %s', datetime.datetime.now())
    told = {
        'uuid': str(uuid.uuid4()), 'token': secrets.token_hex(8), 'urandom': os.urandom(n).hex(),
        'wall': time.time_ns(), 'monotonic': time.monotonic_ns(), 'cpu': time.process_time_ns(),
        'shuffled': random.sample(range(100), 9), 'hash': hash('word'), 'address': id(tool_input),
        'metadata': str(metadata.deadline_ms) + metadata.invocation_mode + metadata.invocation_id,
        'secret': config.secrets['TOKEN'][:3], 'pin': user_variables.sensitive.get('pin', 'none')[:2],
    }
    if n % 5 == 1:
        raise ValueError(f'at {time.time_ns()} with {told}')
    if n % 5 == 2:
        for _ in range(150):
            send_status_event(f'{time.monotonic_ns()} {random.random()}')
    if n % 5 == 3:
        async with asyncio.timeout(0.005):
            await asyncio.sleep(60)
    if n % 7 == 6:
        sys.exit(3)
    return told
";

/// The number of runs, higher in a long test.
fn rounds() -> usize {
    std::env::var("LATHE_TEST_REPLAYS").ok().and_then(|count| count.parse().ok()).unwrap_or(12)
}

/// A call with ten inputs in one of the modes.
fn call(round: usize) -> Value {
    let inputs = (0..10).map(|index| {
        let mut one = input(&json!({"n": round * 10 + index}));
        one["invocation_mode"] = json!(["regular", "conversation-simulation"][index % 2]);
        one["sensitive_user_variables"] = json!({"pin": format!("{index:02}34567890")});
        one
    });
    let inputs: Vec<_> = inputs.collect();
    let persistence = ["ephemeral", "persisted-preferred", "persisted"][round / 3 % 3];
    json!({"inputs": inputs, "result_persistence": persistence})
}

#[test]
fn impure_runs_replay_byte_for_byte_in_every_mode() {
    let team = Team::new();
    let tool = team.tool("impure").source(BEFORE, BODY).manifest("required_secret_envvars = ['TOKEN']");
    tool.set_variables(&[("TOKEN", "a secret that is long", true)]);
    let tool = tool.published();
    let mut outcomes = std::collections::BTreeMap::new();
    for round in 0..rounds() {
        let runs = match round % 3 {
            0 => tool.invoke_inputs(&call(round)),
            1 => streamed(&tool.invoke_request(&call(round)).events()),
            _ => later(&team, &tool.invoke_request(&call(round)).header("prefer", "respond-async").send().expect(202)),
        };
        assert_eq!(runs.len(), 10);
        for run in runs {
            let answer = identical(&team, run.id());
            assert_eq!(ended(&answer), recorded(&team, run.id()));
            assert_eq!(answer["invocation_result"]["persisted"], run.is_persisted());
            *outcomes.entry(run.0["exception_type"].as_str().unwrap_or("succeeded").to_owned()).or_insert(0) += 1;
        }
    }
    assert!(outcomes.len() >= 4, "{outcomes:?}");
    assert_eq!(team.history().len().min(100), (rounds() * 10).min(100), "replays are no runs");
}

fn streamed(events: &[crate::harness::Event]) -> Vec<Run> {
    let result = events.iter().find(|event| event.name == "result").expect("a result");
    result.data["invocation_results"].as_array().expect("a list").iter().cloned().map(Run).collect()
}

fn later(team: &Team, begun: &Value) -> Vec<Run> {
    let path = format!("/operation/{}", begun["id"].as_str().expect("an id"));
    let done = crate::harness::eventually("the end of the operation", || {
        let operation = team.get(&path);
        (operation["status"] != "running").then_some(operation)
    });
    let results = done["result"]["invocation_results"].as_array().unwrap_or_else(|| panic!("{done}"));
    results.iter().cloned().map(Run).collect()
}

#[test]
fn a_run_that_the_host_stops_replays_too() {
    let team = Team::new();
    let tool = team.next_tool().source("import time", STOPPED).manifest("memory_mb = 64").published();
    for (how, kind) in
        [("memory", "MemoryError"), ("recursion", "RecursionError"), ("large", "output_too_large"), ("exit", "exit")]
    {
        let run = tool.invoke(json!({"how": how}));
        let failed = run.failure();
        assert!(failed.kind == kind || how == "exit", "{how}: {failed:?}");
        let answer = identical(&team, run.id());
        assert_eq!(ended(&answer), recorded(&team, run.id()), "{how}");
    }
}

const STOPPED: &str = "
    how = tool_input['how']
    time.time()
    if how == 'memory':
        return len(bytearray(1 << 30))
    if how == 'recursion':
        def deeper(n):
            return deeper(n + 1) + 1
        return deeper(0)
    if how == 'large':
        return 'x' * 30_000
    import os
    os._exit(7)
";

#[test]
fn a_run_that_timed_out_is_compared_up_to_that_point() {
    let team = Team::new();
    let tool = team.next_tool().source("import time", SLOW).manifest(DEADLINE_ALONE).published();
    for how in ["computes", "sleeps", "looks"] {
        let run = tool.invoke(json!({"how": how}));
        assert_eq!(run.failure().kind, "timeout_wall", "{how}: {run}");
        let answer = replay(&team, run.id(), &json!({})).expect(200);
        assert!(answer["identical"] == true && answer["complete"] == false, "{how}: {answer}");
        assert_eq!(ended(&answer), recorded(&team, run.id()), "{how}");
    }
}

/// These runs reach their wall time limit only: their CPU time limit is longer, and ten million host calls take longer.
const DEADLINE_ALONE: &str = "timeout_seconds = 2\nlimits = { host_calls = 10_000_000, cpu_seconds = 60 }";

/// Two clock readings are some 300 µs of computing apart. Two seconds hold some 7,000 readings, and less than a million
/// on a machine a hundred times as fast.
const SLOW: &str = "
    await send_status_event(f'begun {time.time()}')
    if tool_input['how'] == 'computes':
        while True:
            pass
    if tool_input['how'] == 'looks':
        while True:
            time.time()
            sum(range(10_000))
    time.sleep(60)
";

#[test]
fn a_test_of_a_branch_replays_against_a_version_or_a_branch() {
    let team = Team::new();
    let tool = team.next_tool().source("import time", "return time.time_ns()").pushed();
    let tested = tool.test(&json!({})).expect(200)["invocation_results"][0].clone();
    let run = Run(tested);
    let refused = replay(&team, run.id(), &json!({}));
    assert_eq!((refused.status, refused.code()), (400, "replay_subject".into()));
    let body = json!({"commit_branch": team.branch(), "project_path": tool.path()});
    let answer = replay(&team, run.id(), &body).expect(200);
    assert!(answer["identical"] == true && answer["invocation_result"]["output"] == run.output(), "{answer}");
}

#[test]
fn the_command_reports_an_identical_replay_or_its_differences() {
    let team = Team::new();
    let tool = team.next_tool().source("import time", "return time.time_ns()").published();
    let run = tool.invoke(json!({}));
    let said = team.lathe().run(&["replay", run.id()]);
    assert_eq!((said.code, said.stdout.trim()), (Some(0), "identical"), "{said:?}");
    let tool = tool.source("import time", "return f'v2 {time.time_ns()}'").published();
    let said = team.lathe().run(&["replay", run.id(), "--version", "1.1.0"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let now = format!("  recorded  {0}\n  now       v2 {0}", run.output());
    assert!(said.stdout.starts_with("different\noutcome\n") && said.stdout.contains(&now), "{}", said.stdout);
    let said = team.lathe().run(&["replay", run.id(), "--branch", &team.branch(), "--json"]);
    let document: Value = serde_json::from_str(&said.stdout).expect("a document");
    assert!(said.code == Some(1) && document["identical"] == false, "{said:?}");
    assert_eq!(team.lathe().run(&["replay", &"f".repeat(24)]).code, Some(1));
    drop(tool);
}
