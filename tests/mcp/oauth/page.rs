//! The page on which a user allows the access of a client.

use serde_json::json;

use super::application::{Application, fields, with};
use crate::harness::{Answer, Team};
use crate::mcp::client::Gateway;

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).expect("UTF-8")
}

#[test]
fn the_page_names_the_client_and_its_hosts_and_loads_nothing() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    let page = application.page(&asked);
    for part in
        ["Test &lt;b&gt;Client&lt;/b&gt;", "<code>localhost</code>", &team.organization, "tools", "a state &amp; more"]
    {
        assert!(text(&page).contains(part), "{part}: {page}");
    }
    let header = |name: &str| page.headers[name].to_str().expect("text").to_owned();
    let policy = header("content-security-policy");
    for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self' https://localhost:"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("script") && !text(&page).contains("<script"));
    assert_eq!((header("cache-control").as_str(), header("x-frame-options").as_str()), ("no-store", "DENY"));

    let hostile = format!("\u{202e}\"><script>alert(1)</script>{}", "x".repeat(10_000 - 8_000));
    application
        .describe(&json!({"client_name": hostile, "redirect_uris": ["http://127.0.0.1/cb", application.redirect_uri]}));
    let page = application.page(&with(&asked, "state", "\"><script>"));
    assert_eq!(page.status, 200, "{page}");
    assert!(!text(&page).contains("<script") && !text(&page).contains('\u{202e}'), "{page}");
    assert!(!text(&page).contains(&"x".repeat(100)), "the name is bounded");
    let local = application.page(&with(&asked, "redirect_uri", "http://127.0.0.1:5000/cb"));
    assert!(text(&local).contains("your own computer"), "{local}");
}

#[test]
fn wrong_keys_count_as_wrong_sign_ins() {
    let application = Application::at(&["--rate-limits", "contract"]);
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    let own = fields(&[("user", "bob"), ("api_key", "wrong"), ("decision", "allow")]);
    let form = [asked, own].concat();
    let statuses: Vec<_> = (0..7).map(|_| application.submit(&form).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 403).count(), 5, "{statuses:?}");
    let limited = application.submit(&form);
    assert_eq!(limited.status, 429, "{limited}");
    assert!(text(&limited).contains("Too many attempts") && limited.headers.contains_key("retry-after"), "{limited}");
}
