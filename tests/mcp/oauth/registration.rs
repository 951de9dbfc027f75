//! Clients that register themselves.

use serde_json::json;

use super::application::{Application, Tokens, listed, parameter, with};
use crate::harness::Team;
use crate::mcp::client::Gateway;

#[test]
fn clients_register_themselves_only_if_the_operator_permits_it() {
    let application = Application::new();
    let refused = application.server.request("POST", "/oauth/register").json(&json!({})).send();
    refused.expect(404);
}

#[test]
fn a_registered_client_is_public_and_signs_in() {
    let application = Application::at(&["--oauth-registration"]);
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let described = crate::harness::fetch(&format!("{}/.well-known/oauth-authorization-server", team.server.url));
    assert!(described.contains("/oauth/register"), "{described}");
    let register = |body: &serde_json::Value| team.server.request("POST", "/oauth/register").json(body).send();
    for body in [
        json!({}),
        json!([]),
        json!({"redirect_uris": []}),
        json!({"redirect_uris": ["http://evil.example/cb"]}),
        json!({"redirect_uris": ["javascript://x"]}),
        json!({"redirect_uris": ["smb://files.example.com/share"]}),
        json!({"redirect_uris": ["ms-msdt:/id"]}),
        json!({"redirect_uris": ["ldap://directory.example.com/"]}),
        json!({"redirect_uris": ["telnet://host.example.com/"]}),
        json!({"redirect_uris": ["https://a.example/cb", "editor://callback"]}),
        json!({"redirect_uris": ["https://a.example/cb"], "grant_types": ["client_credentials"]}),
        json!({"redirect_uris": ["https://a.example/cb"], "client_name": "x".repeat(9_000)}),
    ] {
        let refused = register(&body);
        assert_eq!(refused.status, 400, "{body}: {refused}");
        assert_eq!(refused.json()["error"], "invalid_client_metadata", "{body}: {refused}");
    }
    let redirect = "http://127.0.0.1/callback";
    let registered = register(&json!({
        "client_name": "Editor", "redirect_uris": [redirect], "token_endpoint_auth_method": "client_secret_basic",
    }))
    .expect(201);
    assert_eq!(registered["token_endpoint_auth_method"], "none", "{registered}");
    assert_eq!(registered.get("client_secret"), None);
    let client_id = registered["client_id"].as_str().expect("an id");

    let asked = with(&with(&application.request(&gateway), "client_id", client_id), "redirect_uri", redirect);
    let page = application.page(&asked);
    assert!(page.to_string().contains("Editor") && page.to_string().contains("registered itself"), "{page}");
    let code = parameter(&application.allow(&asked, &team), "code").expect("a code");
    let form = with(&application.exchange(&gateway, &code), "client_id", client_id);
    let tokens = Tokens::of(&application.token(&with(&form, "redirect_uri", redirect)).expect(200));
    assert_eq!(listed(&gateway, &tokens.access).status, 200);
}

/// One user authorises more clients than a user may have; another organisation registers and authorises all the same.
#[test]
fn an_organization_that_registers_many_clients_keeps_no_other_from_it() {
    let application = Application::at(&["--oauth-registration"]);
    let teams = [Team::on(&application.server), Team::on(&application.server)];
    let redirect = "http://127.0.0.1/callback";
    let sign_in = |team: &Team, gateway: &Gateway| {
        let body = json!({"client_name": "Editor", "redirect_uris": [redirect]});
        let registered = team.server.request("POST", "/oauth/register").json(&body).send().expect(201);
        let client_id = registered["client_id"].as_str().expect("an id").to_owned();
        let asked = with(&with(&application.request(gateway), "client_id", &client_id), "redirect_uri", redirect);
        let answer = application.allow(&asked, team);
        assert!(parameter(&answer, "code").is_some(), "{answer}");
        asked
    };
    let gateways = teams.each_ref().map(|team| Gateway::new(team, "tools", &[]));
    let kept = sign_in(&teams[1], &gateways[1]);
    let first = sign_in(&teams[0], &gateways[0]);
    for _ in 0..20 {
        sign_in(&teams[0], &gateways[0]);
    }
    let page = application.page(&first);
    assert_eq!(page.status, 400, "the oldest client of the user is replaced: {page}");
    assert_eq!(application.page(&kept).status, 200);
    sign_in(&teams[1], &gateways[1]);
}
