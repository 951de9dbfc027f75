//! Hosts to which requests may go.

use serde_json::json;

use super::{ask, asking, authority, reaching};
use crate::harness::{Options, Site, Team};

#[test]
fn only_declared_hosts_receive_requests() {
    let (declared, other) = (Site::serve(), Site::serve());
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&declared), "*.example.com"]);
    let said = ask(
        &tool,
        &json!([
            {"url": declared.url("/echo/1?q=%C3%BC")},
            {"url": other.url("/echo")},
            {"url": format!("http://localhost:{}/", declared.port())},
            {"url": "https://example.com/"},
            {"url": "ftp://example.com/"},
            {"url": format!("http://user:word@{}/", declared.address)},
            // The same address in other notations.
            {"url": format!("http://2130706433:{}/echo/2", declared.port())},
        ]),
    );
    assert_eq!(said[0]["status"], 200, "{said:?}");
    let echo: serde_json::Value = serde_json::from_str(said[0]["body"].as_str().expect("text")).expect("JSON");
    assert_eq!((&echo["method"], &echo["path"]), (&json!("GET"), &json!("/echo/1?q=%C3%BC")));
    let host = json!(["host", authority(&declared)]);
    assert!(echo["headers"].as_array().is_some_and(|headers| headers.contains(&host)), "{echo}");
    for refused in [1, 2, 3] {
        assert_eq!((&said[refused]["type"], &said[refused]["code"]), (&json!("EgressRefused"), &json!("denied")));
        let message = said[refused]["message"].as_str().expect("text");
        assert!(message.contains("`allowed_hosts` of the version does not list http"), "{message}");
    }
    assert_eq!(said[5]["code"], "invalid_request", "{said:?}");
    assert_eq!(said[6]["status"], 200, "{said:?}");
    assert_eq!((declared.connections(), other.connections()), (2, 0));
}

/// A declared host must also have a public address.
#[test]
fn internal_addresses_are_refused_in_every_notation() {
    let site = Site::serve();
    let team = Team::new();
    let port = site.port();
    let hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254", "10.0.0.1"];
    let declared: Vec<_> = hosts.iter().map(|host| format!("{host}:{port}")).collect();
    let tool = asking(&team, &declared.iter().map(String::as_str).collect::<Vec<_>>());
    let written = ["0x7f000001", "127.1", "0177.0.0.1", "0"];
    let urls = hosts.iter().chain(&written).map(|host| json!({"url": format!("http://{host}:{port}/")}));
    for said in ask(&tool, &urls.collect()) {
        assert_eq!((&said["type"], &said["code"]), (&json!("EgressRefused"), &json!("denied")), "{said}");
        assert!(said["message"].as_str().expect("text").contains("not on the public Internet"), "{said}");
        assert!(said["message"].as_str().expect("text").contains("`--egress-networks`"), "{said}");
    }
    // An author who lists the host is not refused a second time without a warning.
    let team = Team::new();
    let undeclared = asking(&team, &["api.example.com"]);
    for (url, is_private) in
        [("http://127.0.0.1:8000/", true), ("http://localhost:8000/", true), ("https://example.com/", false)]
    {
        let said = ask(&undeclared, &json!([{"url": url}]));
        let message = said[0]["message"].as_str().expect("text");
        assert!(message.contains("add \"") && message.contains("to it and publish again"), "{message}");
        assert_eq!(message.contains("--egress-networks"), is_private, "{message}");
    }
    assert_eq!(site.connections(), 0);
}

#[test]
fn an_operator_permits_hosts_or_none() {
    let site = Site::serve();
    let server = reaching(Options { arguments: vec!["--egress-hosts=api.example.com".into()], ..Options::default() });
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&site)]);
    let said = ask(&tool, &json!([{"url": site.url("/")}]));
    assert!(said[0]["message"].as_str().expect("text").contains("operator of this server does not permit"), "{said:?}");
    let id = tool.id().to_owned();
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let server = server.restarted(|options| options.arguments = vec!["--egress-hosts=none".into()]);
    let team = team.moved_to(server);
    let said = ask(&team.tool("asks").with_id(&id), &json!([{"url": site.url("/")}]));
    assert!(said[0]["message"].as_str().expect("text").contains("switched off"), "{said:?}");
    assert_eq!(site.connections(), 0);
}

#[test]
fn the_tool_follows_redirects_and_the_host_may_refuse_them() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = asking(&team, &[&authority(&site)]);
    let said = ask(&tool, &json!([{"url": site.url("/redirect")}]));
    assert_eq!((&said[0]["code"], said[0]["type"].as_str()), (&json!("denied"), Some("EgressRefused")), "{said:?}");
    assert!(said[0]["message"].as_str().expect("text").contains("169.254.169.254"), "{said:?}");
    assert_eq!(site.connections(), 1);
}

#[test]
fn tls_connections_need_a_certificate_that_the_machine_trusts() {
    let (trusted, stranger) = (Site::secure(), Site::secure());
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("authorities.pem");
    std::fs::write(&file, trusted.certificate.as_ref().expect("a certificate")).expect("a file");
    let environment = vec![("SSL_CERT_FILE".to_owned(), file.display().to_string())];
    let server = reaching(Options { environment, ..Options::default() });
    let team = Team::on(&server);
    let tool = asking(&team, &[&format!("localhost:{}", trusted.port()), &format!("localhost:{}", stranger.port())]);
    let said = ask(&tool, &json!([{"url": trusted.url("/status/200")}, {"url": stranger.url("/status/200")}]));
    assert_eq!(said[0]["status"], 200, "{said:?}");
    assert!(said[1]["message"].as_str().expect("text").contains("no TLS connection"), "{said:?}");
}
