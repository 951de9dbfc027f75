//! Failures of every kind come back in the form of a failure, and not as errors of the protocol.

use serde_json::json;

use super::agent::{Agent, rows};
use super::families::PREFIXES;
use crate::harness::{Locked, Nodes, Options, Server, Team, eventually, free_port};

const UNKNOWN: &str = "6b087fb88c8b71fedaf8732b";

/// The tools that take the id of an item.
const TAKING_IDS: [&str; 17] = [
    "memory_get",
    "memory_update",
    "memory_delete",
    "rule_get",
    "rule_update",
    "rule_delete",
    "skill_get",
    "skill_update",
    "skill_delete",
    "task_get",
    "task_complete",
    "task_skip_next",
    "task_end_recurrence",
    "task_delete",
    "prompt_get",
    "prompt_update",
    "artifact_get",
];

rows! {
    s0_121_bad_arguments_are_failures_of_every_tool: |agent| {
        let is_of_library = |name: &String| PREFIXES.iter().any(|(_, prefix)| name.starts_with(prefix));
        let tools: Vec<_> = agent.0.names().into_iter().filter(is_of_library).collect();
        assert!(tools.len() > 30, "{tools:?}");
        for tool in tools {
            let refused = agent.refused(&tool, json!({"nonsense": true}));
            assert_eq!(refused, ("input_schema".into(), 400), "{tool}");
        }
    };
    s0_121_unknown_items_are_failures_of_every_tool: |agent| {
        for tool in TAKING_IDS {
            let (family, _) = tool.split_once('_').expect("a verb");
            let id = format!("{family}_id");
            let refused = agent.refused(tool, json!({id.as_str(): UNKNOWN}));
            assert_eq!(refused, ("not_found".into(), 404), "{tool}");
        }
        for tool in ["preference_get", "preference_forget"] {
            assert_eq!(agent.refused(tool, json!({"key": "s0_121"})), ("not_found".into(), 404), "{tool}");
        }
    };
    s0_121_contradictions_are_failures: |agent| {
        let skill = json!({"name": "s0-121", "content": "x"});
        agent.data("skill_create", skill.clone());
        assert_eq!(agent.refused("skill_create", skill), ("conflict".into(), 409));
        let task = agent.data("task_create", json!({"description": "x"}))["task_id"].clone();
        assert_eq!(agent.refused("task_skip_next", json!({"task_id": task})), ("conflict".into(), 409));
    };
}

/// Writes wait for the lock, and are refused when they have waited for ten seconds.
#[test]
fn s0_121_a_database_that_takes_no_writes_is_a_failure() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let agent = Agent::of(&team, "stalled");
    let memory = json!({"content": "never"});
    let locked = Locked::take(server.data());
    std::thread::scope(|scope| {
        let called = scope.spawn(|| agent.refused("memory_create", memory.clone()));
        let sent = scope.spawn(|| server.request("POST", "/api/v1/memory").bearer(&team.token).json(&memory).send());
        assert_eq!(called.join().expect("a result"), ("database_busy".into(), 503));
        let answer = sent.join().expect("an answer");
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, &error["code"], &error["status"]), (503, &json!("database_busy"), &json!(503)));
    });
    drop(locked);
    assert_eq!(agent.data("memory_list", json!({}))["items"], json!([]));
    agent.data("memory_create", json!({"content": "after the failure"}));
}

#[test]
fn s0_121_a_database_that_does_not_answer_is_a_failure() {
    let Some((nodes, relay)) = Nodes::start_behind_relay(1) else { return };
    let team = nodes.team();
    relay.vanish();
    let list = || nodes.servers[0].request("GET", "/api/v1/memory").bearer(&team.token).send();
    let answer = list();
    let failure = answer.json();
    assert_eq!((answer.status, &failure["success"]), (503, &json!(false)), "{answer}");
    assert_eq!(failure["error"]["status"], 503, "{answer}");
    relay.return_on_another_path();
    eventually("the database", || (list().status == 200).then_some(()));
}

#[test]
fn s0_121_an_endpoint_that_refuses_connections_fails_no_call() {
    let url = format!("http://127.0.0.1:{}/v1", free_port());
    let arguments = ["--embeddings-url", &url, "--embeddings-model", "small"].map(str::to_owned).to_vec();
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    let agent = Agent::of(&team, "alone");
    let memory = agent.data("memory_create", json!({"content": "a red car"}))["memory_id"].clone();
    let results = agent.data("memory_search", json!({"query": "car"}));
    assert_eq!((&results["semantic"], &results["items"][0]["memory_id"]), (&json!(null), &memory));
}
