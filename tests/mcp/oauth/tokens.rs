//! Exchanges of codes and refresh tokens that are refused.

use super::application::{Application, Tokens, listed, resource, with};
use crate::harness::{Answer, Team, change_database};
use crate::mcp::client::Gateway;

fn refused(answer: &Answer, error: &str, what: &str) {
    assert_eq!(answer.status, 400, "{what}: {answer}");
    assert_eq!(answer.json()["error"], error, "{what}: {answer}");
    assert!(answer.json()["error_description"].is_string(), "{what}: {answer}");
}

#[test]
fn codes_are_exchanged_once_and_on_their_terms() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let (gateway, beside) = (Gateway::new(&team, "tools", &[]), Gateway::new(&team, "beside", &[]));
    let code = application.code(&gateway);
    let form = application.exchange(&gateway, &code);
    for (name, value, error) in [
        ("grant_type", "", "invalid_request"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("code", "", "invalid_request"),
        ("code", "lac_wrong_code", "invalid_grant"),
        ("client_id", "", "invalid_request"),
        ("client_id", "https://other.example/client.json", "invalid_grant"),
        ("redirect_uri", "https://other.example/callback", "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", "short", "invalid_grant"),
        ("code_verifier", &"a".repeat(43), "invalid_grant"),
        ("resource", "", "invalid_request"),
        ("resource", &resource(&beside), "invalid_grant"),
    ] {
        refused(&application.token(&with(&form, name, value)), error, &format!("{name}={value}"));
    }
    let json = team.server.request("POST", "/oauth/token").json(&serde_json::json!({"code": code})).send();
    refused(&json, "invalid_request", "JSON");
    let tokens = Tokens::of(&application.token(&form).expect(200));
    assert_eq!(listed(&gateway, &tokens.access).status, 200);
    refused(&application.token(&form), "invalid_grant", "the second use");
    assert_eq!(listed(&gateway, &tokens.access).status, 401, "the second use ends the tokens");
    refused(&application.token(&application.renewal(&tokens.refresh)), "invalid_grant", "ended");
}

#[test]
fn refresh_tokens_are_used_once_and_revoked_with_their_authorisation() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let first = application.signed_in(&gateway);
    let renewal = application.renewal(&first.refresh);
    refused(&application.token(&with(&renewal, "client_id", "https://other.example/c")), "invalid_grant", "client");
    refused(&application.token(&with(&renewal, "resource", "https://other.example/")), "invalid_grant", "resource");
    refused(&application.token(&with(&renewal, "refresh_token", &first.access)), "invalid_grant", "an access token");
    let second = Tokens::of(&application.token(&renewal).expect(200));
    assert_eq!(listed(&gateway, &second.access).status, 200);
    let uses = "UPDATE oauth_tokens SET used_at = used_at - 10000 WHERE used_at IS NOT NULL";
    change_database(application.server.data(), &[uses]);
    refused(&application.token(&renewal), "invalid_grant", "the second use");
    assert_eq!(listed(&gateway, &second.access).status, 401);
    refused(&application.token(&application.renewal(&second.refresh)), "invalid_grant", "ended");

    let tokens = application.signed_in(&gateway);
    application.revoke(&tokens.access, "https://other.example/c");
    assert_eq!(listed(&gateway, &tokens.access).status, 200, "another client's");
    application.revoke(&tokens.access, &application.client_id);
    assert_eq!(listed(&gateway, &tokens.access).status, 401);
    let renewed = Tokens::of(&application.token(&application.renewal(&tokens.refresh)).expect(200));
    application.revoke(&renewed.refresh, &application.client_id);
    assert_eq!(listed(&gateway, &renewed.access).status, 401);
    application.revoke("no token", &application.client_id);
    let missing = team.server.request("POST", "/oauth/revoke").form(&Vec::new()).send();
    refused(&missing, "invalid_request", "a missing token");
}

#[test]
fn two_refreshes_at_once_and_a_lost_answer_do_not_end_an_authorisation() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let renewal = application.renewal(&application.signed_in(&gateway).refresh);
    let server = &application.server;
    let renewed: Vec<_> = std::thread::scope(|scope| {
        let send = || server.request("POST", "/oauth/token").form(&renewal).send();
        let sent: Vec<_> = (0..2).map(|_| scope.spawn(send)).collect();
        sent.into_iter().map(|answer| Tokens::of(&answer.join().expect("an answer").expect(200))).collect()
    });
    let again = Tokens::of(&application.token(&renewal).expect(200));
    for tokens in renewed.iter().chain([&again]) {
        assert_eq!(listed(&gateway, &tokens.access).status, 200);
        application.token(&application.renewal(&tokens.refresh)).expect(200);
    }
    refused(&application.token(&with(&renewal, "client_id", "https://other.example/c")), "invalid_grant", "client");
    assert_eq!(listed(&gateway, &again.access).status, 401, "a used token that another client knows is stolen");
}
