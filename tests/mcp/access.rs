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
fn an_api_key_is_a_bearer_of_mcp_alone() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let with_key = |method: &str, path: &str| {
        let request = team.server.request(method, path).bearer(&team.api_key);
        request.header("accept", "application/json, text/event-stream")
    };
    let listed = gateway.modern(with_key("POST", &gateway.path()), "tools/list", json!({})).send_message();
    assert_eq!(message(&listed)["result"]["tools"][0]["name"], "lathe__whoami", "{listed}");
    let elsewhere = with_key("GET", &format!("/v1/{}/tool", team.organization)).send();
    elsewhere.expect(401);
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
