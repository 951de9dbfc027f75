//! Where access tokens are accepted, and until when.

use serde_json::json;

use super::application::{Application, Tokens, listed, parameter, with};
use crate::harness::Team;
use crate::mcp::client::Gateway;

#[test]
fn an_access_token_is_for_one_gateway_of_one_user() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let (gateway, beside) = (Gateway::new(&team, "tools", &[]), Gateway::new(&team, "beside", &[]));
    let tokens = application.signed_in(&gateway);
    assert_eq!(listed(&gateway, &tokens.access).status, 200);
    let refused = listed(&beside, &tokens.access);
    assert_eq!(refused.status, 401, "another gateway: {refused}");
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    assert!(challenge.contains(r#"error="invalid_token""#) && challenge.contains("/mcp/beside"), "{challenge}");
    assert_eq!(listed(&gateway, &tokens.refresh).status, 401, "a refresh token");
    for path in ["/tool", "/user/me", "/agent"] {
        let path = format!("/v1/{}{path}", team.organization);
        team.server.request("GET", &path).bearer(&tokens.access).send().expect(401);
        let name = format!("{}:{}", team.user, tokens.access);
        let basic = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, name);
        team.server.request("GET", &path).header("authorization", &format!("Basic {basic}")).send().expect(401);
    }
    let path = format!("{}?access_token={}", gateway.path(), tokens.access);
    let request = team.server.request("POST", &path).header("accept", "application/json, text/event-stream");
    assert_eq!(gateway.modern(request, "tools/list", json!({})).send_message().status, 401, "in the query");
    let elsewhere = team.server.request("POST", &gateway.path()).bearer(&tokens.access).header("host", "localhost:1");
    let elsewhere = elsewhere.header("accept", "application/json, text/event-stream");
    assert_eq!(gateway.modern(elsewhere, "tools/list", json!({})).send_message().status, 401, "another host");
}

#[test]
fn access_ends_with_the_key_and_with_the_user() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    for end in ["key", "user"] {
        let colleague = team.joined_by(&format!("bob-of-{end}"), "invoker");
        let theirs = Gateway { team: &colleague, slug: gateway.slug.clone(), id: gateway.id.clone() };
        let tokens = application.signed_in(&theirs);
        assert_eq!(listed(&theirs, &tokens.access).status, 200);
        let path = match end {
            "key" => format!("/api_key/{}", colleague.api_key_id),
            _ => format!("/user/{}", colleague.user),
        };
        assert_eq!(team.delete(&path).status, 204, "{path}");
        assert_eq!(listed(&theirs, &tokens.access).status, 401, "{end}");
        assert_eq!(application.token(&application.renewal(&tokens.refresh)).status, 400, "{end}");
        if end == "user" {
            // Another user with the same id.
            team.joined_by(&colleague.user, "invoker");
            assert_eq!(listed(&theirs, &tokens.access).status, 401);
            assert_eq!(application.token(&application.renewal(&tokens.refresh)).status, 400);
        }
    }
}

#[test]
fn an_agent_with_the_slug_that_another_one_had_does_not_accept_its_tokens() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let first = Gateway::new(&team, "tools", &[]);
    let tokens = application.signed_in(&first);
    assert_eq!(listed(&first, &tokens.access).status, 200);
    team.post(&format!("/agent/{}", first.id), &json!({"slug": "renamed"})).expect(204);
    let second = Gateway::new(&team, "tools", &[]);
    assert_eq!(listed(&second, &tokens.access).status, 401);
    let renewed = Tokens::of(&application.token(&application.renewal(&tokens.refresh)).expect(200));
    assert_eq!(listed(&second, &renewed.access).status, 401, "renewed");
    let own = application.signed_in(&second);
    assert_eq!(listed(&second, &own.access).status, 200);
    team.delete(&format!("/agent/{}", second.id)).expect(204);
    let third = Gateway::new(&team, "tools", &[]);
    assert_eq!(listed(&third, &own.access).status, 401);
    assert_eq!(application.token(&application.renewal(&own.refresh)).status, 400, "it ended with its agent");
}

/// Clients compare the URL of the resource with theirs. All spellings of a URL mean one endpoint.
#[test]
fn a_resource_is_named_as_the_client_wrote_it() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let port = team.server.url.rsplit(':').next().expect("a port");
    for (host, path) in [
        (format!("127.0.0.1:{port}"), format!("{}/", gateway.path())),
        (format!("LocalHost:{port}"), gateway.path()),
        (format!("LocalHost:{port}"), format!("{}/", gateway.path())),
    ] {
        let request = team.server.request("POST", &path).header("host", &host).header("accept", "*/*");
        let refused = gateway.modern(request, "tools/list", json!({})).send_message();
        let challenge = refused.headers["www-authenticate"].to_str().expect("text");
        let described = format!("/.well-known/oauth-protected-resource{path}");
        assert!(challenge.contains(&format!("resource_metadata=\"http://{host}{described}\"")), "{challenge}");
        let described = team.server.request("GET", &described).header("host", &host).send_message().json();
        assert_eq!(described["resource"], format!("http://{host}{path}"));
        let issuer = format!("http://{}", host.to_ascii_lowercase());
        assert_eq!(described["authorization_servers"], json!([issuer]));
    }
    let spelling = format!("HTTP://127.0.0.1:{port}{}/", gateway.path());
    let allowed = application.allow(&with(&application.request(&gateway), "resource", &spelling), &team);
    let code = parameter(&allowed, "code").unwrap_or_else(|| panic!("{allowed}"));
    let exchange = with(&application.exchange(&gateway, &code), "resource", &spelling);
    let tokens = Tokens::of(&application.token(&exchange).expect(200));
    assert_eq!(listed(&gateway, &tokens.access).status, 200);
    let renewal = with(&application.renewal(&tokens.refresh), "resource", &spelling);
    let renewed = Tokens::of(&application.token(&renewal).expect(200));
    let slash = team.server.request("POST", &format!("{}/", gateway.path())).bearer(&renewed.access);
    let slash = gateway.modern(slash.header("accept", "*/*"), "tools/list", json!({})).send_message();
    assert_eq!(slash.status, 200, "{slash}");
}

/// The host of a request is that of the public URL, or one that a proxy wrote.
#[test]
fn behind_a_proxy_the_public_url_is_named() {
    let application = Application::at(&["--public-url=https://tools.example.com"]);
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    for (host, named) in [
        ("tools.example.com", "https://tools.example.com"),
        ("Tools.Example.com:443", "https://Tools.Example.com:443"),
        ("127.0.0.1:1", "https://tools.example.com"),
    ] {
        let path = format!("/.well-known/oauth-protected-resource{}", gateway.path());
        let described = team.server.request("GET", &path).header("host", host).send_message().json();
        assert_eq!(described["resource"], format!("{named}{}", gateway.path()), "{host}");
        assert_eq!(described["authorization_servers"], json!(["https://tools.example.com"]), "{host}");
    }
}
