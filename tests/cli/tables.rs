//! Tables on a terminal.

use nix::pty::Winsize;
use serde_json::json;

use crate::harness::{Team, Terminal};

const COLUMNS: u16 = 80;

/// Returns the output of a command on a terminal of this width. A terminal that reports the width 0 does not know its size.
fn shown(team: &Team, columns: u16, arguments: &[&str]) -> String {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    Terminal::of_size(team.lathe().command(arguments), Some(size)).shown()
}

#[test]
fn tables_are_readable_on_eighty_columns() {
    let team = Team::new();
    let body =
        "return {'greetings': ['Hello, ' + tool_input['name']], 'delivered': True, 'note': 'and some more words'}";
    let tool = team.tool("greet").body(body).published();
    let run = tool.invoke(json!({"name": "Ada"}));
    tool.invoke(json!({"name": "Grace"}));
    team.lathe().ok(&["tool", "edit", "greet", "--tag", "team=sales", "--description", &"Greets people. ".repeat(9)]);
    for columns in [COLUMNS, 0] {
        let records = shown(&team, columns, &["history", "list"]);
        let id = run.0["invocation_id"].as_str().expect("an id");
        // Header, and two lines for each of two records.
        assert_eq!(records.lines().count(), 6, "{records}");
        let is_whole = |line: &str| line.contains(id) && line.contains("greet") && line.contains("1.0.0");
        assert!(records.lines().any(is_whole), "{records}");
        assert!(records.contains(r#"{"greetings":["Hello, Ada"],"delivered":true"#), "{records}");
        let tools = shown(&team, columns, &["tool", "list"]);
        assert!(tools.lines().count() <= 4 && tools.lines().any(|line| line.contains(tool.id())), "{tools}");
        assert!(tools.contains("team=sales") && tools.contains("Greets people. Greets"), "{tools}");
        for line in records.lines().chain(tools.lines()) {
            assert!(line.chars().count() <= usize::from(COLUMNS), "{line}");
        }
    }
    team.lathe().ok(&["key", "create", "--name", "laptop of the office", "--expires-in", "90d"]);
    team.lathe().ok(&[
        "history",
        "hold",
        "create",
        "case 2026-117 of the office",
        "--tool",
        "greet",
        "--since",
        "2026-01-01",
    ]);
    for command in [&["key", "list", "--all"][..], &["history", "hold", "list"], &["user", "list"], &["role", "list"]] {
        for line in shown(&team, COLUMNS, command).lines() {
            assert!(line.chars().count() <= usize::from(COLUMNS), "{command:?}: {line}");
        }
    }
    // Programs read whole cells.
    let piped = team.lathe().ok(&["tool", "list"]);
    assert!(piped.lines().count() == 2 && piped.len() > 150, "{piped}");
}
