//! The reference in a browser: Debian's `chromium-headless-shell` or `chromium`.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::{Server, clean_environment, needs};

const BROWSERS: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Virtual time for the browser to draw the page.
const TIME_BUDGET_MS: u32 = 20_000;

/// The link to a tag opens this tag only.
#[test]
fn a_browser_shows_every_operation_without_errors() {
    let Some(browser) = browser() else { return };
    let server = Server::shared();
    let tags = operations_by_tag();
    assert!(tags.len() > 5 && tags["Tools"].contains(&"create-tool".to_owned()), "{tags:?}");
    for (tag, ids) in &tags {
        let operation = if tag == "Tools" { "/create-tool" } else { "" };
        let (page, log) = open(browser, &format!("{}/docs#/{tag}{operation}", server.url));
        for id in ids {
            assert!(page.contains(id.as_str()), "{id} is not shown; the browser's log:\n{log}");
        }
        assert!(tag != "Tools" || page.contains("Says it louder."), "the operation of the URL is not expanded");
        // The console reports blocked resources and requests to other hosts.
        assert!(!log.contains("CONSOLE"), "{log}");
    }
}

fn operations_by_tag() -> BTreeMap<String, Vec<String>> {
    let document = api::build_openapi_document();
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.values().flat_map(|item| item.as_object().expect("an item").values());
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for operation in operations.filter(|operation| operation["operationId"].is_string()) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        tags.entry(text(&operation["tags"][0])).or_default().push(text(&operation["operationId"]));
    }
    tags
}

#[test]
fn a_browser_shows_the_page_of_error_codes() {
    let Some(browser) = browser() else { return };
    let server = Server::shared();
    let (page, log) = open(browser, &format!("{}/docs/errors#build_failed", server.url));
    assert!(page.contains("id=\"build_failed\""), "{page}");
    assert!(!log.contains("CONSOLE"), "{log}");
}

fn browser() -> Option<&'static str> {
    let runs = |browser: &&str| Command::new(browser).arg("--version").output().is_ok_and(|o| o.status.success());
    needs::BROWSER.require(BROWSERS.into_iter().find(runs))
}

/// Returns the rendered page and the browser's log.
fn open(browser: &str, url: &str) -> (String, String) {
    let profile = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(browser);
    // A browser's sandbox does not work in most containers. The page is trusted.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"]);
    command.arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.arg(format!("--virtual-time-budget={TIME_BUDGET_MS}")).args(["--dump-dom", url]);
    clean_environment(&mut command);
    let Output { status, stdout, stderr } = command.output().expect("the browser starts");
    let (page, log) = (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{status}: {log}");
    (page, log)
}
