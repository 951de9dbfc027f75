//! Requests for an authorisation that are refused.

use serde_json::json;

use super::application::{Application, Fields, fields, parameter, resource, with};
use crate::harness::{Answer, Team};
use crate::mcp::client::Gateway;

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).expect("UTF-8")
}

#[test]
fn requests_are_refused_by_a_page_and_nothing_is_sent_before_the_user_has_decided() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    for (name, value) in [
        ("client_id", ""),
        ("client_id", "lcl_aaaaaaaaaaaaaaaaaaaaaa"),
        ("client_id", "http://localhost/client.json"),
        ("client_id", "https://127.0.0.1:1/client.json"),
        ("redirect_uri", ""),
        ("redirect_uri", "https://evil.example/callback"),
        ("redirect_uri", &format!("{}/more", application.redirect_uri)),
        ("redirect_uri", &format!("{}?more", application.redirect_uri)),
    ] {
        let shown = application.page(&with(&asked, name, value));
        assert_eq!((shown.status, shown.headers.get("location")), (400, None), "{name}={value}: {shown}");
        assert!(text(&shown).contains("This sign-in does not work"), "{shown}");
        assert_eq!(application.allow(&with(&asked, name, value), &team).status, 400, "{name}={value}");
    }
    let repeated: Fields = [asked.clone(), fields(&[("redirect_uri", "https://evil.example/cb")])].concat();
    assert_eq!(application.page(&repeated).status, 400);
    for (name, value, error) in [
        ("response_type", "", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("scope", "everything", "invalid_scope"),
        ("resource", "", "invalid_target"),
        ("resource", "https://evil.example/v1/acme/mcp/tools", "invalid_target"),
        ("resource", &format!("{}/v1/{}/tool", team.server.url, team.organization), "invalid_target"),
    ] {
        for sent in [application.page(&with(&asked, name, value)), application.allow(&with(&asked, name, value), &team)]
        {
            assert_eq!((sent.status, sent.headers.get("location")), (400, None), "{name}={value}: {sent}");
            assert!(text(&sent).contains(error), "{name}={value}: {sent}");
        }
    }
    let of_another_site = |name: &str, value: &str| {
        let form = team.server.request("POST", "/oauth/authorize").header(name, value).form(&asked);
        let answer = form.send();
        assert_eq!((answer.status, answer.headers.get("location")), (400, None), "{name}: {answer}");
    };
    of_another_site("origin", "https://evil.example");
    of_another_site("sec-fetch-site", "cross-site");
    let denied = application.submit(&asked);
    assert_eq!(parameter(&denied, "state").as_deref(), Some("a state & more"));
    assert_eq!(parameter(&denied, "iss").as_deref(), Some(team.server.url.as_str()));
    assert_eq!((denied.status, parameter(&denied, "error").as_deref()), (303, Some("access_denied")), "{denied}");
}

#[test]
fn wrong_users_keys_and_gateways_show_the_page_again() {
    let application = Application::new();
    let (team, other) = (Team::on(&application.server), Team::on(&application.server));
    let (gateway, foreign) = (Gateway::new(&team, "tools", &[]), Gateway::new(&other, "tools", &[]));
    let asked = application.request(&gateway);
    let of_others = with(&asked, "resource", &resource(&foreign));
    let unknown = |path: &str| with(&asked, "resource", &format!("{}{path}", team.server.url));
    let (no_organization, no_gateway) =
        (unknown("/v1/nowhere/mcp/tools"), unknown(&format!("/v1/{}/mcp/x", team.organization)));
    let wrong_user = |form: &Fields, user: &str, key: &str| {
        [form.clone(), fields(&[("user", user), ("api_key", key), ("decision", "allow")])].concat()
    };
    for (form, words) in [
        (wrong_user(&asked, &team.user, &other.api_key), "wrong"),
        (wrong_user(&asked, &team.user, &team.token), "wrong"),
        (wrong_user(&asked, &team.user, ""), "wrong"),
        (wrong_user(&asked, "nobody", &team.api_key), "wrong"),
        (wrong_user(&of_others, &team.user, &team.api_key), "wrong"),
        (wrong_user(&no_organization, &team.user, &team.api_key), "wrong"),
        (wrong_user(&no_gateway, &team.user, &team.api_key), "no such MCP endpoint"),
    ] {
        let again = application.submit(&form);
        assert_eq!((again.status, again.headers.get("location")), (403, None), "{again}");
        assert!(text(&again).contains(words) && text(&again).contains("<form"), "{again}");
        assert!(!text(&again).contains(&team.api_key), "the page repeats the key");
    }
    application.describe(&json!({"redirect_uris": ["http://127.0.0.1/callback"]}));
    let loopback = with(&asked, "redirect_uri", "http://127.0.0.1:40123/callback");
    let sent = application.allow(&loopback, &team);
    assert!(sent.headers["location"].to_str().unwrap().starts_with("http://127.0.0.1:40123/callback?code="), "{sent}");
}
