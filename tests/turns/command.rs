//! `lathe agent state` and `lathe conversation`.

use serde_json::json;

use super::talk::{decision, id};
use crate::harness::Team;

#[test]
fn a_conversation_from_the_command_line() {
    let team = Team::new();
    let tool = team.tool("greet").body("return 'hello ' + tool_input.get('name', 'you')").published();
    let lathe = team.lathe();
    lathe.ok(&["agent", "create", "support", "--description", "Helps."]);
    assert!(lathe.ok(&["agent", "state", "list", "support"]).is_empty());
    let file = team.home().join("state.json");
    std::fs::write(&file, decision("ask", &[tool.id()]).to_string()).expect("a file");
    let set = lathe.ok(&["agent", "state", "set", "support", file.to_str().expect("UTF-8")]);
    assert!(set.contains("set the state ask") && set.contains("lathe agent deploy support"), "{set}");
    let listed = lathe.ok(&["agent", "state", "list", "support"]);
    assert!(listed.contains("ask") && listed.contains("decision"), "{listed}");
    lathe.ok(&["agent", "deploy", "support"]);
    assert!(lathe.ok(&["agent", "show", "support"]).contains("decision"));

    let talk = lathe.json(&["conversation", "start", "support"]);
    let turn = lathe.json(&["conversation", "turn", id(&talk), "--state", "ask"]);
    assert_eq!(turn["tools"][0]["name"], "greet", "{turn}");
    let text = lathe.ok(&["conversation", "turn", id(&talk), "--state", "ask"]);
    assert!(text.contains("greet") && text.contains("also: forward_call, get_tool_call_status"), "{text}");
    let said = lathe.ok(&["conversation", "call", id(&talk), id(&turn), "greet", "--input", r#"{"name": "Ada"}"#]);
    assert!(said.contains("hello Ada"), "{said}");
    let refused = lathe.run(&["conversation", "call", id(&talk), id(&turn), "other"]);
    refused.refused(1, &["the turn does not present the tool other; it presents greet"]);
    assert_eq!(lathe.json(&["conversation", "show", id(&talk), id(&turn)])["tools"], turn["tools"]);
    lathe.run(&["conversation", "show", id(&talk), &"f".repeat(24)]).refused(1, &["there is no turn"]);
    assert!(lathe.ok(&["conversation", "list", "support"]).contains(id(&talk)));
    assert!(lathe.ok(&["conversation", "show", id(&talk)]).contains("regular"));
    let log = lathe.json(&["conversation", "log", id(&talk)]);
    assert_eq!(log["tool_invocations"][0]["tool_id"], json!(tool.id()), "{log}");
    assert!(lathe.ok(&["conversation", "end", id(&talk)]).contains("ended"));
    lathe.run(&["conversation", "turn", id(&talk), "--state", "ask"]).refused(1, &["the conversation has ended"]);
    for command in ["turn", "show", "log", "end"] {
        lathe.run(&["conversation", command, &"f".repeat(24)]).refused(1, &["there is no conversation"]);
    }

    lathe.ok(&["agent", "state", "unset", "support", "ask"]);
    lathe.run(&["agent", "state", "unset", "support", "ask"]).refused(1, &["there is no state `ask`"]);
}
