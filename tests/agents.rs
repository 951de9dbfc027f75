//! `lathe agent`: drafts, assignments of published tools, and deployments on a running server.

use serde_json::{Value, json};

use crate::harness::Team;

/// Writes a system prompt beside the project and returns its path.
fn prompt(team: &Team, text: &str) -> String {
    let path = team.home().join("prompt.md");
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

fn create(team: &Team, slug: &str, scope: &str) -> String {
    let lathe = team.lathe();
    let created = lathe.json(&["agent", "create", slug, "--description", "Helps.", "--scope", scope]);
    created["id"].as_str().expect("an id").to_owned()
}

#[test]
fn edits_do_not_change_the_running_revision() {
    let team = Team::new();
    let tool = team.tool("greet").body("return 'hi'").published();
    let lathe = team.lathe();
    let id = create(&team, "support", "organization");
    lathe.ok(&["agent", "edit", "support", "--prompt-file", &prompt(&team, "Be kind.")]);
    let instruction = "Greet once.";
    let options = ["--instruction", instruction, "--audio-filler", "One moment.", "--audio-filler-after", "1.5"];
    lathe.ok(&[&["agent", "assign", "support", "greet", "^1"][..], &options].concat());
    let deployed = lathe.json(&["agent", "deploy", "support"]);
    let assignment = json!({
        "tool_id": tool.id(), "version_constraint": ">=1, <2", "additional_instruction": instruction,
        "audio_fillers": ["One moment."], "audio_filler_triggered_after": 1.5, "result_persistence": "persisted-preferred",
    });
    assert_eq!((&deployed["number"], &deployed["system_prompt"]), (&json!(1), &json!("Be kind.")));
    assert_eq!(deployed["assignments"], json!([assignment]));

    lathe.ok(&["agent", "edit", "support", "--name", "Helpdesk", "--prompt-file", &prompt(&team, "Be brief.")]);
    lathe.ok(&["agent", "unassign", "support", "greet"]);
    let shown = lathe.json(&["agent", "show", &id]);
    assert_eq!(
        shown["draft"],
        json!({"system_prompt": "Be brief.", "tool_exposure": "full", "builtInTools": {"disabled": [], "allowedFamilies": null}, "assignments": [], "states": []})
    );
    assert_eq!((&shown["running_revision"], &shown["name"]), (&json!(1), &json!("Helpdesk")));
    assert_eq!(lathe.json(&["agent", "revisions", "support", "1"]), deployed);
    let text = lathe.ok(&["agent", "revisions", "support", "1"]);
    assert!(text.contains("Be kind.") && text.contains("greet") && text.contains(instruction), "{text}");

    assert_eq!(lathe.json(&["agent", "deploy", "support"])["number"], 2);
    assert!(lathe.ok(&["agent", "deploy", "support"]).contains("revision 2, as before"));
    assert_eq!(lathe.json(&["agent", "revisions", "support", "1"]), deployed);
    let listed = lathe.ok(&["agent", "revisions", "support"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(lathe.ok(&["agent", "show", "support"]).contains("revision 2"));
    assert!(lathe.ok(&["agent", "list", "--type", "agent"]).contains("support"));
    lathe.ok(&["agent", "delete", "support"]);
    lathe.run(&["agent", "show", "support"]).refused(1, &["there is no agent `support`"]);
}

#[test]
fn a_deployment_checks_the_tools_of_the_draft() {
    let team = Team::new();
    let _tool = team.tool("greet").body("return 'hi'").published();
    let lathe = team.lathe();
    create(&team, "support", "personal");
    lathe.run(&["agent", "assign", "support", "nothing"]).refused(1, &["there is no tool `nothing`"]);
    lathe.run(&["agent", "assign", "support", "greet", "latest"]).refused(2, &["latest"]);
    lathe.ok(&["agent", "assign", "support", "greet", ">=9"]);
    let refused = lathe.run(&["-v", "agent", "deploy", "support"]);
    refused.refused(1, &["no live version of the tool `greet` matches `>=9`", "assignment_unusable", "unassign"]);
    lathe.ok(&["agent", "assign", "support", "greet"]);
    lathe.ok(&["tool", "deprecate", "greet", "--yes"]);
    lathe.run(&["agent", "deploy", "support"]).refused(1, &["the tool `greet` is deprecated"]);
    lathe.ok(&["agent", "unassign", "support", "greet"]);
    lathe.run(&["agent", "unassign", "support", "greet"]).refused(1, &["there is no assignment of `greet`"]);
    lathe.run(&["agent", "revisions", "support", "7"]).refused(1, &["there is no revision 7 of support"]);
}

#[test]
fn an_assignment_can_pin_the_component_and_an_agent_search_its_tools() {
    let team = Team::new();
    let _tool = team.tool("greet").body("return 'hi'").published();
    let lathe = team.lathe();
    lathe.ok(&["agent", "create", "support", "--description", "Helps.", "--tool-exposure", "search"]);
    let component = lathe.json(&["tool", "show", "greet", "1.0.0"])["component_digest"].clone();
    let component = component.as_str().expect("a digest");
    let pinned = format!("sha256:{}", "0".repeat(64));
    lathe.run(&["agent", "assign", "support", "greet", "--component-digest", "0"]).refused(2, &["sha256: and 64"]);
    lathe.ok(&["agent", "assign", "support", "greet", "--component-digest", &pinned]);
    let refused = lathe.run(&["agent", "deploy", "support"]);
    refused.refused(1, &["version 1.0.0 of the tool `greet` has the component", component, &pinned]);
    lathe.ok(&["agent", "assign", "support", "greet", "--component-digest", component]);
    let deployed = lathe.json(&["agent", "deploy", "support"]);
    assert_eq!((&deployed["tool_exposure"], &deployed["number"]), (&json!("search"), &json!(1)));
    assert_eq!(deployed["assignments"][0]["component_digest"], component);

    let edited = lathe.ok(&["agent", "edit", "support", "--tool-exposure", "full"]);
    assert!(edited.contains("`lathe agent deploy support` makes the draft the running revision"), "{edited}");
    assert_eq!(lathe.json(&["agent", "show", "support"])["draft"]["tool_exposure"], "full");
    let text = lathe.ok(&["agent", "revisions", "support", "1"]);
    assert!(text.contains("tool exposure: search") && text.contains(&component[..19]), "{text}");
    assert_eq!(lathe.json(&["agent", "deploy", "support"])["number"], 2);
}

#[test]
fn agents_of_others_are_not_found_and_rights_are_required() {
    let (team, stranger) = (Team::new(), Team::new());
    let id = create(&team, "support", "personal");
    let twice = team.lathe().run(&["agent", "create", "support", "--description", "x"]);
    twice.refused(1, &["`support` already exists"]);
    create(&stranger, "support", "personal");
    stranger.lathe().run(&["agent", "show", &id]).refused(1, &["there is no agent"]);
    let author = team.joined_by("bob", "author");
    author.lathe().run(&["agent", "show", "support"]).refused(1, &["there is no agent `support`"]);
    author.request("GET", &format!("/agent/{id}")).send().expect(404);
    team.lathe().ok(&["agent", "edit", "support", "--scope", "organization"]);
    author.lathe().ok(&["agent", "show", "support"]);
    let invoker = team.joined_by("carl", "invoker");
    invoker.lathe().ok(&["agent", "show", "support"]);
    invoker.lathe().run(&["agent", "edit", "support", "--name", "x"]).refused(1, &["Agent:ModifyAgent"]);
    invoker.lathe().run(&["agent", "deploy", "support"]).refused(1, &["Agent:DeployAgent"]);
    invoker.lathe().run(&["agent", "create", "mine", "--description", "x"]).refused(1, &["Agent:CreateAgent"]);
    let long = prompt(&team, &"x".repeat(64 * 1024 + 1));
    team.lathe().run(&["agent", "edit", "support", "--prompt-file", &long]).refused(2, &["65536 bytes"]);
    let name = Value::from("x".repeat(129));
    let refused = team.post(&format!("/agent/{id}"), &json!({"name": name}));
    refused.expect(422);
}
