//! The size of the Library: a typed refusal when it is reached, and room as soon as items are deleted.

use serde_json::{Value, json};

use super::agent::Agent;
use crate::harness::{Options, Server, Team};

fn skill(name: &str, letters: usize) -> Value {
    json!({"name": name, "content": "x".repeat(letters)})
}

#[test]
fn a_user_who_has_reached_the_size_deletes_and_goes_on() {
    let arguments = ["--library-user-megabytes", "1", "--library-megabytes", "2"].map(str::to_owned).to_vec();
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    let agent = Agent::of(&team, "library");
    let ids: Vec<Value> = (0..8)
        .map(|number| agent.data("skill_create", skill(&format!("s{number}"), 125_000))["skill_id"].clone())
        .collect();
    let error = agent.error("skill_create", skill("more", 125_000));
    assert_eq!((&error["code"], &error["status"]), (&json!("quota_exceeded"), &json!(400)), "{error}");
    let message = error["message"].as_str().expect("a text");
    assert!(message.contains("1048576") && message.contains("delete items"), "{message}");
    // By every way in: over REST, by an update, and as an earlier version.
    let send = |method: &str, path: &str, body: Value| {
        team.server.request(method, &format!("/api/v1/{path}")).bearer(&team.token).json(&body).send()
    };
    let refused = send("POST", "skills", skill("more", 125_000));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("quota_exceeded")), "{refused}");
    let first = ids[0].as_str().expect("an id");
    let refused = send("PATCH", &format!("skills/{first}"), json!({"content": "y".repeat(125_000)}));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!("quota_exceeded")), "{refused}");
    assert_eq!(agent.data("skill_get", json!({"skill_id": first}))["revision"], 1);
    let listed = agent.data("skill_list", json!({}));
    assert!(listed["items"][0].get("content").is_none() && listed["items"][0]["name"] == "s7", "{listed}");

    // Another user has a part of their own, within that of the organisation.
    let bea = team.joined_by("bea", "author");
    let of_bea = |name: &str| {
        let body = skill(name, 125_000);
        bea.server.request("POST", "/api/v1/skills").bearer(&bea.token).json(&body).send().status
    };
    assert_eq!(of_bea("own"), 201);

    agent.data("skill_delete", json!({"skill_id": ids[1]}));
    agent.data("skill_create", skill("more", 125_000));
}
