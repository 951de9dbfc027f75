//! Client metadata documents that are refused, and how they are fetched.

use std::collections::BTreeSet;
use std::net::TcpListener;

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
    let mut said = BTreeSet::new();
    let mut refuse = |client_id: &str| {
        let page = application.page(&with(&asked, "client_id", client_id));
        assert_eq!(page.status, 400, "{client_id}: {page}");
        said.insert(String::from_utf8(page.body).expect("UTF-8"));
    };
    for changes in [
        json!({"client_id": "https://localhost/other.json"}),
        json!({"redirect_uris": []}),
        json!({"redirect_uris": ["smb://files.example.com/share"]}),
        json!({"token_endpoint_auth_method": "client_secret_post"}),
        json!({"more": "x".repeat(9_000)}),
    ] {
        application.describe(&changes);
        refuse(&application.client_id);
    }
    application.site.publish("/page", "text/html", "{}");
    for path in ["/status/404", "/redirect", "/bytes/100", "/endless", "/garbage", "/drip", "/page"] {
        refuse(&application.site.url(path));
    }
    // A port that is closed, one that is not permitted, and an address that is not public.
    for url in ["https://localhost:1/c.json", "https://localhost:25/c.json", "https://10.0.0.1/c.json"] {
        refuse(url);
    }
    assert_eq!(said.len(), 1, "all failures look the same: {said:?}");
    let page = said.pop_first().expect("a page");
    assert!(page.contains("redirect_uris") && page.contains("its host cannot be reached"), "{page}");
}

#[test]
fn a_failed_document_is_not_fetched_again_for_a_while() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let url = application.site.url("/status/500");
    let asked = with(&application.request(&gateway), "client_id", &url);
    assert_eq!(application.page(&asked).status, 400);
    let connections = application.site.connections();
    for _ in 0..5 {
        assert_eq!(application.page(&asked).status, 400);
    }
    assert_eq!(application.site.connections(), connections);
    assert_eq!(application.page(&application.request(&gateway)).status, 200, "another document of the host");
}

/// Hosts that say nothing take no more than the places of their client, and refuse further requests at once.
#[test]
fn silent_hosts_keep_no_document_of_others_waiting() {
    let application = Application::new();
    let team = Team::on(&application.server);
    let gateway = Gateway::new(&team, "tools", &[]);
    let asked = application.request(&gateway);
    let silent: Vec<_> = (0..4).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let urls = silent.iter().map(|listener| {
        let port = listener.local_addr().expect("an address").port();
        format!("https://localhost:{port}/client.json")
    });
    let (server, asked) = (&application.server, &asked);
    let pages: Vec<_> = std::thread::scope(|scope| {
        let page = |url: String| {
            let form = with(asked, "client_id", &url);
            scope.spawn(move || {
                let pairs: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                server.request("GET", "/oauth/authorize").query(&pairs).send()
            })
        };
        let pages: Vec<_> = urls.map(page).collect();
        pages.into_iter().map(|page| page.join().expect("a page")).collect()
    });
    let refused: Vec<_> = pages.iter().filter(|page| page.status == 429).collect();
    assert_eq!(refused.len(), 2, "two of an address are read at the same time");
    for page in refused {
        assert!(page.to_string().contains("too_many_requests"), "{page}");
        assert_eq!(page.headers["retry-after"], "1");
    }
    assert_eq!(application.page(asked).status, 200, "the places are free again");
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
