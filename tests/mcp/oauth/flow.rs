//! The whole way of a client, from the first refusal to the call of a tool.

use serde_json::{Value, json};

use super::application::{Application, Tokens, listed, parameter, resource};
use crate::harness::{Answer, Team};
use crate::mcp::client::{Gateway, LEGACY, message};

/// The parts of a challenge, by name.
fn challenge(answer: &Answer, name: &str) -> Option<String> {
    let text = answer.headers["www-authenticate"].to_str().expect("text");
    let (_, rest) = text.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn document(url: &str) -> Value {
    serde_json::from_str(&crate::harness::fetch(url)).expect("JSON")
}

#[test]
fn a_client_finds_its_way_from_the_first_refusal_to_a_call() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let refused = listed(&gateway, "");
    assert_eq!((refused.status, challenge(&refused, "scope").as_deref()), (401, Some("mcp")), "{refused}");
    let described = document(&challenge(&refused, "resource_metadata").expect("a URL"));
    assert_eq!(described["resource"], resource(&gateway));
    assert_eq!(described["authorization_servers"], json!([team.server.url]));
    assert_eq!(described["scopes_supported"], json!(["mcp"]));

    let server = document(&format!("{}/.well-known/oauth-authorization-server", team.server.url));
    assert_eq!(server["issuer"], team.server.url);
    assert_eq!(server["authorization_endpoint"], format!("{}/oauth/authorize", team.server.url));
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["client_id_metadata_document_supported"], true);
    assert_eq!(server["registration_endpoint"], Value::Null);

    let asked = application.request(&gateway);
    assert_eq!(application.page(&asked).status, 200);
    let allowed = application.allow(&asked, &team);
    assert_eq!(allowed.status, 303, "{allowed}");
    assert_eq!(parameter(&allowed, "state").as_deref(), Some("a state & more"));
    assert_eq!(parameter(&allowed, "iss").as_deref(), Some(team.server.url.as_str()));
    let code = parameter(&allowed, "code").expect("a code");
    let issued = application.token(&application.exchange(&gateway, &code)).expect(200);
    assert_eq!(
        (&issued["token_type"], &issued["expires_in"], &issued["scope"]),
        (&json!("Bearer"), &json!(3600), &json!("mcp"))
    );
    let tokens = Tokens::of(&issued);
    assert!(tokens.access.starts_with("lat_") && tokens.refresh.starts_with("lrt_"));

    calls(&gateway, &tokens.access);
    let renewed = Tokens::of(&application.token(&application.renewal(&tokens.refresh)).expect(200));
    calls(&gateway, &renewed.access);
}

/// Calls a tool in both eras of the protocol. The record names the user.
fn calls(gateway: &Gateway, token: &str) {
    let request = || {
        let request = gateway.team.server.request("POST", &gateway.path()).bearer(token);
        request.header("accept", "application/json, text/event-stream")
    };
    let called =
        gateway.modern(request(), "tools/call", json!({"name": "lathe__whoami", "arguments": {}})).send_message();
    let result = &message(&called)["result"];
    assert!(result["content"].to_string().contains("ada"), "{called}");
    let run = result["_meta"]["dev.lathe/invocationId"].as_str().unwrap_or_else(|| panic!("{called}"));
    let record = gateway.team.get(&format!("/tool/invocation/{run}"));
    assert!(record.to_string().contains(r#""ada""#), "{record}");
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let begun =
        request().json(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).send_message();
    assert_eq!(begun.status, 200, "{begun}");
    let session = begun.headers["mcp-session-id"].to_str().expect("text");
    let listed = request().header("mcp-session-id", session).header("mcp-protocol-version", LEGACY);
    let listed = listed.json(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).send_message();
    assert_eq!(message(&listed)["result"]["tools"][0]["name"], "lathe__whoami", "{listed}");
}
