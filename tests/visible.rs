//! Texts of authors, agents and clients that hide a part of themselves: everything that people read shows each character.

use serde_json::{Value, json};

use crate::harness::Team;
use crate::mcp::client::Gateway;

/// One character of each kind that was found to hide text.
const HIDDEN: [char; 26] = [
    '\u{7f}',
    '\u{9b}',
    '\u{85}',
    '\u{a0}',
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{180e}',
    '\u{200b}',
    '\u{2028}',
    '\u{202e}',
    '\u{2066}',
    '\u{2800}',
    '\u{3000}',
    '\u{3164}',
    '\u{e000}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fff9}',
    '\u{fffe}',
    '\u{e0041}',
    '\u{e0101}',
];

/// Whether a text has one of the characters as it is.
#[track_caller]
fn shows_all(text: &str) {
    assert!(!text.is_empty());
    assert_eq!(text.chars().find(|character| HIDDEN.contains(character)), None, "{text:?}");
}

#[test]
fn a_confirmation_shows_every_character_of_the_arguments() {
    let team = Team::new();
    let _pay = team.tool("pay").manifest("intervention = 'always'").body("return 'paid'").published();
    let gateway = Gateway::new(&team, "shop", &["pay"]);
    for hidden in HIDDEN {
        let arguments = json!({"to": format!("ada{hidden}"), format!("{hidden}amount"): 5, "note": " ".repeat(200)});
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
        let asked = gateway.send("tools/call", json!({"name": "pay", "arguments": arguments, "_meta": meta}));
        let asked = asked["result"]["inputRequests"]["lathe/confirmation"]["params"]["message"].clone();
        let message = asked.as_str().unwrap_or_else(|| panic!("{asked}"));
        shows_all(message);
        assert!(!message.contains(&" ".repeat(10)), "{message}");
        // The text is the JSON of the arguments.
        let shown = message.strip_prefix("Run pay with ").and_then(|text| text.strip_suffix('?')).expect("arguments");
        assert_eq!(serde_json::from_str::<Value>(shown).expect("JSON"), arguments, "{message}");
    }
}

#[test]
fn the_command_line_shows_every_character() {
    let team = Team::new();
    let hidden: String = HIDDEN.iter().collect();
    let tool = team.tool("hides").body("return tool_input['text']").published();
    let input = json!({"text": format!("a{hidden}b")}).to_string();
    let lathe = team.lathe();
    let invoke = ["tool", "invoke", "hides", "--input", &input];
    let plain = lathe.ok(&invoke);
    shows_all(&plain);
    assert!(plain.contains(r"\u{202e}") && plain.contains(r"\u{9b}") && plain.contains(r"\u{e0041}"), "{plain}");
    let document = lathe.run(&[&["--json"][..], &invoke].concat()).ok();
    shows_all(&document.stdout);
    assert_eq!(document.document()["invocation_results"][0]["output"], format!("a{hidden}b"), "the value is the same");

    let description = json!({"description": format!("Hides {hidden}.")});
    let changed = team.post(&format!("/tool/{}", tool.id()), &description);
    assert!(changed.status < 300, "{changed}");
    for arguments in
        [&["tool", "list"][..], &["--json", "tool", "list"], &["history", "list"], &["--json", "history", "list"]]
    {
        shows_all(&lathe.ok(arguments));
    }
    let failing = team.tool("fails").body("raise ValueError(tool_input['text'])").published();
    assert!(!failing.id().is_empty());
    let failed = lathe.run(&["tool", "invoke", "fails", "--input", &input]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    shows_all(&failed.stdout);
    // The message of an error quotes what the user gave.
    let refused = lathe.run(&["--json", "tool", "invoke", &format!("no{hidden}")]);
    shows_all(&refused.stdout);
    shows_all(&refused.stderr);
}

#[test]
fn a_refused_path_shows_every_character() {
    let team = Team::new();
    let tool = team.tool("links");
    let name = "a\u{202e}b\u{e0041}";
    std::os::unix::fs::symlink("/etc/passwd", team.repository.directory.join(tool.path()).join(name)).expect("a link");
    team.repository.commit();
    let refused = team.repository.git(&["push", "-q", &team.git_url(), &format!("HEAD:{}", team.branch())]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    shows_all(&refused.stderr);
    assert!(refused.stderr.contains(r"a\u{202e}b\u{e0041}"), "{refused:?}");
}
