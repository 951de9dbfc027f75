//! Turns and conversations that a caller does not have.

use serde_json::json;

use super::talk::{Agent, Talk, decision, id};
use crate::harness::Team;

#[test]
fn a_turn_of_another_user_agent_organisation_or_conversation_is_unknown() {
    let team = Team::new();
    let tool = team.tool("work").body("return 'done'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let other_agent = Agent::new(&team, "sales").with(&[decision("ask", &[tool.id()])]);
    let (talk, other_talk) = (agent.talk(), agent.talk());
    let turn = talk.turn("ask");
    let never = team.request("GET", &format!("/conversation/{}", "f".repeat(24))).send();
    let colleague = team.joined_by("bob", "admin");
    let stranger = Team::on(&team.server);
    for (who, team) in [("a colleague", &colleague), ("another organisation", &stranger)] {
        let talk = Talk { team, id: talk.id.clone() };
        let path = format!("/conversation/{}", talk.id);
        let below = format!("{path}/turn/{}", id(&turn));
        let answers = [
            team.request("GET", &path).send(),
            team.delete(&path),
            team.request("GET", &format!("{path}/log")).send(),
            team.request("GET", &below).send(),
            team.post(&format!("{path}/turn"), &json!({"state": "ask"})),
            talk.call(&turn, "work", json!({})),
            talk.call(&turn, "forward_call", json!({"destination": "a", "reason": "b"})),
        ];
        for answer in answers {
            assert_eq!((answer.status, &answer.body), (404, &never.body), "{who}: {answer}");
        }
    }
    let answer = other_talk.call(&turn, "work", json!({}));
    assert_eq!((answer.status, &answer.body), (404, &never.body), "another conversation: {answer}");
    let refused = |message: &serde_json::Value| {
        message["error"]["code"] == -32602 && message["error"]["message"].as_str().unwrap().starts_with("Unknown turn")
    };
    assert!(refused(&other_agent.call(&turn, "work", json!({}))), "another agent");
    let as_colleague = Agent { team: &colleague, id: agent.id.clone(), slug: agent.slug.clone() };
    assert!(refused(&as_colleague.call(&turn, "work", json!({}))), "another user");
    let wrong = json!({"dev.lathe/turn": id(&turn), "dev.lathe/conversation": other_talk.id});
    assert!(refused(&agent.call_with(wrong, "work", json!({}))), "another conversation");
    let right = json!({"dev.lathe/turn": id(&turn), "dev.lathe/conversation": talk.id});
    assert_eq!(agent.call_with(right, "work", json!({}))["result"]["content"][0]["text"], "done");
    for meta in
        [json!({"dev.lathe/conversation": talk.id}), json!({"dev.lathe/turn": 7}), json!({"dev.lathe/turn": "x"})]
    {
        let message = agent.call_with(meta.clone(), "work", json!({}));
        assert_eq!(message["error"]["code"], -32602, "{meta}: {message}");
    }
}

#[test]
fn an_ended_conversation_has_no_more_turns_and_calls() {
    let team = Team::new();
    let tool = team.tool("work").body("return 'done'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    let run = talk.run(&turn, "work", json!({}));
    team.delete(&format!("/conversation/{}", talk.id)).expect(204);
    let refused = talk.call(&turn, "work", json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "conversation_ended"), "{refused}");
    let refused = team.post(&format!("/conversation/{}/turn", talk.id), &json!({"state": "ask"}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "conversation_ended"), "{refused}");
    assert_eq!(agent.call(&turn, "work", json!({}))["error"]["message"], "The conversation has ended.");
    assert_eq!(talk.log(None), [run.id()], "the log stays");
    let listed = team.get(&format!("/agent/{}/conversation", agent.id));
    assert!(listed["conversations"][0]["ended_at"].is_string(), "{listed}");
}
