//! Client metadata documents that are refused, and how they are fetched.

use serde_json::json;

use super::application::{Application, with};
use crate::harness::{Options, Server, Team};
use crate::mcp::client::Gateway;

#[test]
fn documents_are_small_whole_and_about_their_url() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    let shown = |client_id: &str| {
        let page = application.page(&with(&asked, "client_id", client_id));
        assert_eq!(page.status, 400, "{client_id}: {page}");
        String::from_utf8(page.body).expect("UTF-8")
    };
    for (changes, words) in [
        (json!({"client_id": "https://localhost/other.json"}), "not its URL"),
        (json!({"redirect_uris": []}), "redirect_uris"),
        (json!({"token_endpoint_auth_method": "client_secret_post"}), "public clients only"),
        (json!({"more": "x".repeat(9_000)}), "more than 8192 bytes"),
    ] {
        application.describe(&changes);
        assert!(shown(&application.client_id).contains(words), "{changes}");
    }
    for (path, words) in [
        ("/status/404", "answers 404"),
        ("/redirect", "answers 302"),
        ("/bytes/100", "not application/json"),
        ("/endless", "more than 8192 bytes"),
        ("/garbage", "the HTTP exchange failed"),
        ("/drip", "longer than 5 s"),
    ] {
        let said = shown(&application.site.url(path));
        assert!(said.contains(words), "{path}: {said}");
    }
    application.site.publish("/page", "text/html", "{}");
    assert!(shown(&application.site.url("/page")).contains("not application/json"));
}

#[test]
fn documents_are_not_fetched_from_private_addresses() {
    let application = Application::new();
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    let pairs: Vec<_> = asked.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let page = server.request("GET", "/oauth/authorize").query(&pairs).send();
    assert_eq!(page.status, 400, "{page}");
    assert!(page.to_string().contains("its host cannot be reached"), "{page}");
    assert_eq!(application.site.connections(), 0);
}
