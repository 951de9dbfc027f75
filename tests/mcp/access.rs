//! Credentials of MCP clients, and the agents that they reach.

use serde_json::json;

use super::client::{Gateway, message};
use crate::harness::Team;

#[test]
fn without_credentials_a_client_learns_where_the_resource_is_described() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let unsigned = team.server.request("POST", &gateway.path()).header("accept", "application/json, text/event-stream");
    let refused = gateway.modern(unsigned, "tools/list", json!({})).send_message();
    assert_eq!(refused.status, 401, "{refused}");
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    let url = challenge.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
    let described: serde_json::Value = serde_json::from_str(&crate::harness::fetch(url)).unwrap();
    assert_eq!(described["resource"], format!("{}{}", team.server.url, gateway.path()), "{described}");
    assert_eq!(described["bearer_methods_supported"], json!(["header"]));
}

#[test]
fn an_api_key_is_a_bearer() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let with_key = |method: &str, path: &str| {
        let request = team.server.request(method, path).bearer(&team.api_key);
        request.header("accept", "application/json, text/event-stream")
    };
    let listed = gateway.modern(with_key("POST", &gateway.path()), "tools/list", json!({})).send_message();
    assert_eq!(message(&listed)["result"]["tools"][0]["name"], "lathe__whoami", "{listed}");
}

#[test]
fn an_agent_of_others_does_not_exist() {
    let (team, stranger) = (Team::new(), Team::new());
    let personal = Gateway::of_scope(&team, "mine", "personal").with(&[]);
    let undeployed = Gateway::of_scope(&team, "draft", "organization");
    team.post("/role", &json!({"name": "caller", "grants": [{"permission": "Tool:InvokeTool", "conditions": []}]}))
        .expect(201);
    let colleague = team.joined_by("bob", "caller");
    for (user, gateway) in [(&colleague, &personal), (&stranger, &personal), (&team, &undeployed)] {
        let refused = gateway.modern(gateway.as_user(user, "POST"), "tools/list", json!({})).send_message();
        assert_eq!(refused.status, 404, "{refused}");
    }
    let own = personal.modern(personal.request("POST"), "tools/list", json!({})).send_message();
    assert_eq!(own.status, 200, "{own}");
}

/// Personal agents of different users have the same slug, and so has one of the organisation.
#[test]
fn a_slug_is_the_personal_agent_of_the_caller_or_that_of_the_organisation() {
    let team = Team::new();
    let (bob, cem, dan) =
        (team.joined_by("bob", "author"), team.joined_by("cem", "author"), team.joined_by("dan", "admin"));
    let shared = Gateway::of_scope(&team, "desk", "organization").with(&[]);
    let of_bob = Gateway::of_scope(&bob, "desk", "personal").with(&[]);
    let of_cem = Gateway::of_scope(&cem, "desk", "personal").with(&[]);
    // What the client learns of the agent: each has another description.
    for (user, gateway) in [(&team, &shared), (&bob, &of_bob), (&cem, &of_cem)] {
        let description = json!({"description": format!("The desk of {}.", user.user)});
        user.post(&format!("/agent/{}", gateway.id), &description).expect(204);
    }
    for (user, owner) in [(&team, "ada"), (&bob, "bob"), (&cem, "cem"), (&dan, "ada")] {
        let discovered = shared.modern(shared.as_user(user, "POST"), "server/discover", json!({})).send_message();
        let instructions = message(&discovered)["result"]["instructions"].to_string();
        assert!(instructions.contains(&format!("The desk of {owner}.")), "{}: {discovered}", user.user);
    }
    // Administrators name the personal agents of others by their ids.
    let by_id = Gateway { team: &dan, slug: of_bob.id.clone(), id: of_bob.id.clone() };
    assert!(
        by_id.send("server/discover", json!({}))["result"]["instructions"].to_string().contains("The desk of bob.")
    );
    let config = |agent: &str| dan.lathe().json(&["mcp", "config", agent, "--client", "claude"])["url"].to_string();
    assert!(config("desk").ends_with("/mcp/desk\""), "{}", config("desk"));
    assert!(config(&of_bob.id).ends_with(&format!("/mcp/{}\"", of_bob.id)), "{}", config(&of_bob.id));
    assert_eq!(bob.lathe().json(&["agent", "show", "desk"])["id"], of_bob.id.as_str());
    assert_eq!(dan.lathe().json(&["agent", "show", "desk"])["id"], shared.id.as_str());
}
