//! Every run has a new instance, with its own clocks and random numbers.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{Run, Team, Tool, input};

/// Thirty runs, ten at a time.
fn thirty(tool: &Tool<'_>) -> Vec<Run> {
    let inputs = vec![input(&json!({})); 10];
    (0..3).flat_map(|_| tool.invoke_inputs(&json!({"inputs": inputs}))).collect()
}

#[test]
fn no_state_survives_a_run() {
    let team = Team::new();
    let before = "import json, sys, builtins\ncount = 0";
    let body = "
        global count
        count += 1
        json.marks = getattr(json, 'marks', 0) + 1
        builtins.marks = getattr(builtins, 'marks', 0) + 1
        known = 'late_module' in sys.modules
        sys.modules['late_module'] = json
        return [count, json.marks, builtins.marks, known]
    ";
    let tool = team.tool("counts").source(before, body).published();
    for run in thirty(&tool) {
        assert_eq!(run.json(), json!([1, 1, 1, false]));
    }
}

/// The published code is the pushed code, whatever the pushed code does while it is inspected.
#[test]
fn a_tool_cannot_forge_its_own_bundle() {
    let team = Team::new();
    let before = "
import marshal, sys

code = compile('def run_tool(*a):\\n    return \\'forged\\'', 'tool.py', 'exec')
forged = marshal.dumps({'entry': ('tool', 'run_tool'), 'modules': {'tool': (False, 'tool.py', marshal.dumps(code))}, 'sources': {}, 'data': {}})
frame = sys._getframe()
while frame:
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, bytes) and name != 'forged':
            frame.f_locals[name] = forged
    frame = frame.f_back
";
    let tool = team.tool("forges").source(before, "return 'honest'").published();
    assert_eq!(tool.invoke(json!({})).output(), "honest");
}

#[test]
fn random_numbers_differ_between_runs() {
    let team = Team::new();
    let body = "
        import hashlib, os, random, secrets, uuid
        return [random.random(), str(uuid.uuid4()), secrets.token_hex(8), os.urandom(8).hex(), hash('x'), id(object())]
    ";
    let tool = team.tool("random").source("import random\nAT_IMPORT = random.random()", body).published();
    let runs: Vec<Value> = thirty(&tool).iter().map(Run::json).collect();
    for (place, what) in ["random", "uuid4", "secrets", "urandom"].iter().enumerate() {
        let distinct: BTreeSet<_> = runs.iter().map(|run| run[place].to_string()).collect();
        assert_eq!(distinct.len(), runs.len(), "{what} repeats itself");
    }
}

#[test]
fn random_numbers_at_import_differ_too() {
    let team = Team::new();
    let before = "import random, uuid\nNUMBER = random.random()\nNAME = str(uuid.uuid4())";
    let tool = team.tool("random").source(before, "return [NUMBER, NAME]").published();
    let runs: BTreeSet<_> = thirty(&tool).iter().map(|run| run.output().to_owned()).collect();
    assert_eq!(runs.len(), 30);
}

#[test]
fn clocks_show_the_current_time_and_advance() {
    let team = Team::new();
    let body = "
        import datetime, time
        before = time.monotonic()
        time.sleep(0.1)
        passed = time.monotonic() - before
        utc = datetime.datetime.now(datetime.timezone.utc).timestamp()
        return [time.time(), utc, passed, metadata.deadline_ms]
    ";
    let tool = team.tool("clock").body(body).manifest("timeout_seconds = 20").published();
    let (before, began) = (now_ms(), Instant::now());
    let answer = tool.invoke(json!({})).json();
    let (after, took) = (now_ms(), began.elapsed().as_secs_f64());
    let seconds = |place: usize| answer[place].as_f64().expect("a number");
    for place in [0, 1] {
        assert!((before - 2.0..after + 2.0).contains(&(seconds(place) * 1_000.0)), "{before} {answer} {after}");
    }
    assert!((0.09..=took).contains(&seconds(2)), "{answer} in {took} s");
    assert!((before + 19_000.0..after + 20_001.0).contains(&seconds(3)), "{before} {answer} {after}");
}

/// Milliseconds since 1970.
fn now_ms() -> f64 {
    let now = registry::Clock::system().now().as_milliseconds();
    f64::from(u32::try_from(now / 1_000).expect("before 2106")) * 1_000.0
        + f64::from(u32::try_from(now % 1_000).expect("below a thousand"))
}

#[test]
fn a_run_receives_its_metadata() {
    let team = Team::new();
    let body = "return [metadata.organization, metadata.tool_id, metadata.tool_name, metadata.version, metadata.invocation_id, \
                metadata.invocation_mode, metadata.is_simulation, conversation]";
    let tool = team.tool("knows").body(body).published();
    let run = tool.invoke(json!({}));
    let expected = json!([team.organization, tool.id(), "knows", "1.0.0", run.id(), "regular", false, null]);
    assert_eq!(run.json(), expected);
}

#[test]
fn a_conversation_reaches_the_tool_and_the_record() {
    let team = Team::new();
    let body = "return [conversation.conversation_id, conversation.interaction_id, conversation.user_id, \
                user_variables.nonsensitive['first_name'], user_variables.sensitive['pin']]";
    let tool = team.tool("talks").body(body).published();
    let (conversation, interaction) = ("a".repeat(24), "b".repeat(24));
    let mut one = input(&json!({}));
    one["nonsensitive_user_variables"] = json!({"first_name": "Ada"});
    one["sensitive_user_variables"] = json!({"pin": "very-secret-4711"});
    let source = json!({
        "type": "regular-conversation", "user_id": "caller", "conversation_id": conversation, "interaction_id": interaction,
        "invocation_metadata": {"type": "engage-user", "current_state_machine_and_version": ["m", 1], "tool_call_round_index": 0},
    });
    let run = tool.invoke_inputs(&json!({"inputs": [one], "invocation_source": source})).remove(0);
    assert_eq!(run.json(), json!([conversation, interaction, "caller", "Ada", "very-secret-4711"]));
    let path = format!("/tool/invocation?conversation_id={conversation}&persisted=true");
    let records = team.get(&path)["tool_invocations"].as_array().expect("a list").clone();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["invocation_source"]["interaction_id"], interaction);
    assert_eq!(records[0]["nonsensitive_user_variables"], json!({"first_name": "Ada"}));
    let stored = records[0]["sensitive_user_variables"].to_string();
    assert!(stored.contains("pin") && !stored.contains("4711"), "{stored}");
}

#[test]
fn only_declared_variables_are_visible() {
    let team = Team::new();
    let body = "return [dict(config.envvars), sorted(config.secrets), repr(config), config.secrets.get('OTHER')]";
    let tool = team.tool("declared").body(body).manifest("required_envvars = ['REGION']");
    let tool = tool.manifest("required_secret_envvars = ['TOKEN']");
    tool.set_variables(&[("REGION", "north", false), ("TOKEN", "s3cr3t", true), ("OTHER", "hidden", true)]);
    let answer = tool.published().invoke(json!({})).json();
    assert_eq!((&answer[0], &answer[1], &answer[3]), (&json!({"REGION": "north"}), &json!(["TOKEN"]), &Value::Null));
    assert!(!answer[2].to_string().contains("s3cr3t"), "{answer}");
}
