//! The reference in a browser: Debian's `chromium-headless-shell` or `chromium`.

use std::process::{Command, Output};

use crate::harness::{Server, clean_environment, needs};

const BROWSERS: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Virtual time for the browser to draw the page.
const TIME_BUDGET_MS: u32 = 20_000;

#[test]
fn a_browser_shows_every_operation_without_errors() {
    let Some(browser) = browser() else { return };
    let server = Server::shared();
    let (page, log) = open(browser, &format!("{}/docs#/Tools/create-tool", server.url));
    let document = api::openapi_document();
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.values().flat_map(|item| item.as_object().expect("an item").values());
    let ids: Vec<&str> = operations.filter_map(|operation| operation["operationId"].as_str()).collect();
    assert!(ids.len() > 20, "{ids:?}");
    for id in ids {
        assert!(page.contains(id), "{id} is not shown; the browser's log:\n{log}");
    }
    assert!(page.contains("Says it louder."), "the operation of the URL is not expanded");
    // The console reports blocked resources and requests to other hosts.
    assert!(!log.contains("CONSOLE"), "{log}");
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
