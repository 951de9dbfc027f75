//! Which tools a turn presents, and calls after the agent has changed.

use serde_json::{Value, json};

use super::talk::{Agent, decision, id, names};
use crate::harness::{Bump, Team};

/// Whether a message refuses a tool as unknown.
fn is_unknown(message: &Value, tool: &str) -> bool {
    let error = &message["error"];
    error["code"] == -32602 && error["message"] == format!("Unknown tool: {tool}")
}

#[test]
fn s3_030_only_the_tools_of_the_state_are_presented() {
    let team = Team::new();
    let (inside, outside) = (team.tool("inside").body("return 'in'").published(), team.tool("outside").published());
    let agent = Agent::new(&team, "support");
    let assignment = json!({"tool_id": outside.id(), "version_constraint": ">=1"});
    team.post(&format!("/agent/{}/assignment", agent.id), &assignment).expect(204);
    agent.deploy(&[decision("here", &[inside.id()]), decision("there", &[outside.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("here");
    assert_eq!(names(&turn), ["inside"], "S3-030");
    assert_eq!(talk.run(&turn, "inside", json!({})).output(), "in", "S3-030");
    for name in ["outside", outside.id(), "lathe__whoami"] {
        let refused = talk.call(&turn, name, json!({}));
        assert_eq!((refused.status, refused.code().as_str()), (404, "tool_not_presented"), "S3-030: {refused}");
        assert!(refused.detail().contains("it presents inside"), "S3-030: {refused}");
        assert!(is_unknown(&agent.call(&turn, name, json!({})), name), "S3-030: there is no global pool");
    }
    let recorded = team.get(&format!("/tool/invocation?turn_id={}&refused_at=resolve", id(&turn)));
    assert_eq!(recorded["tool_invocations"].as_array().unwrap().len(), 6, "refused calls are recorded: {recorded}");
}

#[test]
fn s3_031_another_state_presents_other_tools() {
    let team = Team::new();
    let (first, second) = (team.tool("first").published(), team.tool("second").published());
    let agent = Agent::new(&team, "support");
    agent.deploy(&[decision("one", &[first.id()]), decision("two", &[second.id(), first.id()]), decision("none", &[])]);
    let talk = agent.talk();
    for (state, presented) in
        [("one", &["first"][..]), ("two", &["first", "second"]), ("none", &[]), ("one", &["first"])]
    {
        assert_eq!(names(&talk.turn(state)), presented, "S3-031: {state}");
    }
    let refused = team.post(&format!("/conversation/{}/turn", talk.id), &json!({"state": "three"}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "state_unusable"), "S3-031: {refused}");
    assert!(refused.detail().contains("none, one, two"), "S3-031: {refused}");
}

#[test]
fn s3_032_a_call_runs_what_was_presented() {
    let team = Team::new();
    let tool = team.tool("rate").body("return 'one'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    let presented = turn["tools"][0].clone();
    assert_eq!(presented["version"], "1.0.0", "S3-032: {turn}");
    let tool = tool.body("return 'two'").pushed();
    tool.publish(Bump::Minor).expect(201);
    assert_eq!(talk.run(&turn, "rate", json!({})).output(), "one", "S3-032: over HTTP");
    assert_eq!(agent.call(&turn, "rate", json!({}))["result"]["content"][0]["text"], "one", "S3-032: by MCP");
    let kept = team.get(&format!("/conversation/{}/turn/{}", talk.id, id(&turn)));
    assert_eq!(kept, turn, "S3-032: a turn never changes");
    let next = talk.turn("ask");
    assert_eq!(talk.run(&next, "rate", json!({})).output(), "two", "S3-032: the next turn presents the new version");
    assert_ne!(next["tools"][0]["component_digest"], presented["component_digest"]);
    team.delete(&format!("/tool/{}/version/1.0.0", tool.id())).expect(204);
    let refused = talk.call(&turn, "rate", json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (404, "version_deprecated"), "S3-032: {refused}");
    let refused = agent.call(&turn, "rate", json!({}));
    assert_eq!(refused["result"]["_meta"]["dev.lathe/error"]["type"], "version_deprecated", "S3-032: {refused}");
}

/// A deployment between the turn and its calls: a check against the present state would decide both the other way round.
#[test]
fn s3_033_the_snapshot_decides_when_the_state_has_just_changed() {
    let team = Team::new();
    let old = team.tool("old").body("return 'old'").published();
    let new = team.tool("new").body("return 'new'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[old.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    agent.deploy(&[decision("ask", &[new.id()])]);
    assert_eq!(names(&talk.turn("ask")), ["new"], "S3-033: the state has changed");
    let refused = talk.call(&turn, "new", json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (404, "tool_not_presented"), "S3-033: {refused}");
    assert!(is_unknown(&agent.call(&turn, "new", json!({})), "new"), "S3-033: by MCP");
    assert_eq!(talk.run(&turn, "old", json!({})).output(), "old", "S3-033: accepted over HTTP");
    assert_eq!(talk.run(&turn, old.id(), json!({})).output(), "old", "S3-033: accepted by its id");
    assert_eq!(agent.call(&turn, "old", json!({}))["result"]["content"][0]["text"], "old", "S3-033: accepted by MCP");
}

#[test]
fn an_agent_without_states_presents_its_assignments() {
    let team = Team::new();
    let tool = team.tool("plain").body("return 'plain'").published();
    let agent = Agent::new(&team, "support");
    let refused = team.post(&format!("/conversation/{}/turn", agent.talk().id), &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "state_unusable"), "never deployed: {refused}");
    let assignment = json!({"tool_id": tool.id(), "version_constraint": ">=1"});
    team.post(&format!("/agent/{}/assignment", agent.id), &assignment).expect(204);
    agent.deploy(&[]);
    let talk = agent.talk();
    let turn = talk.turn_with(json!({}));
    assert_eq!((names(&turn), &turn["state"]), (vec!["plain"], &Value::Null));
    assert_eq!(talk.run(&turn, "plain", json!({})).output(), "plain");
    let record = team.history().remove(0);
    let metadata = &record["invocation_source"]["invocation_metadata"];
    assert_eq!(
        (&metadata["type"], &metadata["current_state_machine_and_version"]),
        (&json!("engage-user"), &json!(["support", 1]))
    );
    assert_eq!(record["origin"], "agent");
}

#[test]
fn a_tool_that_the_user_may_not_invoke_is_not_presented() {
    let team = Team::new();
    let tool = team.tool("secret").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let auditor = team.joined_by("carl", "auditor");
    let talk = agent.talk_as(&auditor, &json!({}));
    let turn = talk.turn("ask");
    assert_eq!(names(&turn), [""; 0]);
    assert_eq!(talk.call(&turn, "secret", json!({})).code(), "tool_not_presented");
}
