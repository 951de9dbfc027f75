//! The start of a server, and the first page that a visitor sees.

use std::net::TcpListener;

use tempfile::TempDir;

use crate::harness::{Lathe, Server, fetch};

#[test]
fn a_taken_address_of_metrics_is_named_as_such() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let home = TempDir::new().expect("a directory");
    let lathe = Lathe { home: home.path(), directory: home.path() };
    let serve = ["serve", "--data", "data", "--listen", "127.0.0.1:0", "--metrics-listen", &address];
    lathe
        .run(&serve)
        .refused(1, &["metrics cannot be served", &address, "hint: give --metrics-listen another address"]);
}

#[test]
fn the_root_says_what_this_is_and_where_to_go() {
    let server = Server::shared();
    let text = fetch(&format!("{}/", server.url));
    for path in text.split_whitespace().filter(|word| word.starts_with("/docs") || word.starts_with("/v1/open")) {
        assert!(!fetch(&format!("{}{path}", server.url)).is_empty(), "{path}");
    }
    for word in ["Lathe", "/docs", "/v1/openapi.json", "/health/ready", "signin_with_api_key"] {
        assert!(text.contains(word), "{word} is missing in: {text}");
    }
}
