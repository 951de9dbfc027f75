//! The bounds of operations and of methods of the Model Context Protocol, as the reference lists them.

use std::fmt::Write;

use api::{MCP_METHODS, RequestBound, ResponseBound, Work, list_routes};

const BEGIN: &str = "<!-- The tables up to the end mark are made from the code. -->\n";
const END: &str = "<!-- end of the tables -->\n";
const COMMAND: &str = "INSTA_UPDATE=always cargo test -p api --test it bounds";

/// Writes the file again with `INSTA_UPDATE=always`.
#[test]
fn the_document_has_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/limits.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("a begin mark");
    let (_, after) = rest.split_once(END).expect("an end mark");
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", render_tables());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &expected).unwrap();
    } else {
        assert!(document == expected, "docs/reference/limits.md is older than the code: {COMMAND}");
    }
}

fn render_tables() -> String {
    let mut text = String::from("### Kinds of work\n\n");
    text.push_str(
        "| work | place | of one user | of one organisation | of the server | beyond it |\n|---|---|---|---|---|---|\n",
    );
    for work in Work::ALL {
        let bounds = work.bounds();
        let (of_user, of_organization, of_server) = (bounds.of_user, bounds.of_organization, bounds.of_server);
        let (name, place, beyond) = (bounds.name, bounds.place, bounds.beyond);
        writeln!(text, "| {name} | {place} | {of_user} | {of_organization} | {of_server} | {beyond} |").unwrap();
    }
    text.push_str(
        "\n### Operations\n\n| operation | method and path | body | response | work |\n|---|---|---|---|---|\n",
    );
    for route in list_routes() {
        let bounds = route.bounds().unwrap();
        let request = match bounds.request {
            RequestBound::Nothing => "none".to_owned(),
            RequestBound::Bytes(bytes) => render_size(bytes as u64),
            RequestBound::GitStream => "see [repositories](#repositories)".to_owned(),
        };
        let response = match bounds.response {
            ResponseBound::Bytes(bytes) => render_size(bytes),
            ResponseBound::Stream => "stream".to_owned(),
        };
        let (id, method, path, work) = (route.id().unwrap(), route.method, route.path, bounds.work.name());
        writeln!(text, "| `{id}` | `{method} {path}` | {request} | {response} | {work} |").unwrap();
    }
    text.push_str("\n### Methods of MCP\n\n| method | parameters | result | work |\n|---|---|---|---|\n");
    for method in MCP_METHODS {
        let result = match method.result_bytes_max {
            None => "stream".to_owned(),
            Some(0) => "empty".to_owned(),
            Some(bytes) => render_size(bytes as u64),
        };
        let parameters = render_size(method.request_bytes_max as u64);
        writeln!(text, "| `{}` | {parameters} | {result} | {} |", method.name, method.work.name()).unwrap();
    }
    text
}

fn render_size(bytes: u64) -> String {
    match (bytes >> 20, bytes >> 10) {
        (0, 0) => format!("{bytes} bytes"),
        (0, kibibytes) => format!("{kibibytes} KiB"),
        (mebibytes, _) => format!("{mebibytes} MiB"),
    }
}
