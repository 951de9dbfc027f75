//! `lathe memory`, `rule`, `skill`, `task`, `prompt`, `artifact` and `preference`.

use serde_json::{Value, json};

use crate::harness::{Lathe, Team};

fn id(item: &Value, name: &str) -> String {
    item[name].as_str().unwrap_or_else(|| panic!("{item}")).to_owned()
}

#[test]
fn memories_are_created_found_changed_and_deleted() {
    let team = Team::new();
    let lathe = team.lathe();
    assert!(lathe.run(&["memory", "list"]).ok().stderr.contains("no memories"));
    let created = lathe.json(&["memory", "create", "Ann prefers e-mail.", "--kind", "fact", "--tag", "contact"]);
    let id = id(&created, "memory_id");
    lathe.run_with(&["memory", "create", "-"], "Ben bought a red car.").ok();
    let listed = lathe.ok(&["memory", "list", "--kind", "fact", "--tag", "contact"]);
    assert!(listed.contains(&id) && listed.contains("Ann prefers e-mail.") && !listed.contains("Ben"), "{listed}");
    assert_eq!(lathe.json(&["memory", "search", "red car"])["items"][0]["content"], "Ben bought a red car.");
    assert!(lathe.run(&["memory", "list", "--limit", "1"]).ok().stderr.contains("there are more memories"));
    lathe.ok(&["memory", "edit", &id, "--content", "Ann prefers calls."]);
    let shown = lathe.ok(&["memory", "show", &id]);
    assert!(shown.contains("Ann prefers calls.") && shown.contains("contact") && shown.contains("revision"), "{shown}");
    lathe.run(&["memory", "edit", &id]).refused(2, &["nothing to change", "--help"]);
    assert!(lathe.ok(&["memory", "delete", &id]).contains("deleted"));
    for command in ["show", "delete"] {
        lathe.run(&["memory", command, &id]).refused(1, &[&format!("there is no memory `{id}`"), "lathe memory list"]);
    }
    lathe.run(&["memory", "create"]).refused(2, &["the content is missing", "--file"]);
    lathe.run(&["memory", "create", "x", "--importance", "2"]).refused(1, &["importance"]);
    // Items of an application are apart.
    lathe.ok(&["memory", "create", "Of the shop.", "--app", "shop"]);
    assert!(lathe.ok(&["memory", "list", "--app", "shop"]).contains("Of the shop."));
    assert!(!lathe.ok(&["memory", "list"]).contains("Of the shop."));
}

#[test]
fn skills_and_prompts_are_named_and_have_versions() {
    let team = Team::new();
    let lathe = team.lathe();
    for noun in ["skill", "prompt"] {
        let file = team.home().join("content.md");
        std::fs::write(&file, "# Greet {{customer}}\n").expect("a file");
        let file = file.to_str().expect("UTF-8");
        lathe.ok(&[noun, "create", "greet", "--file", file, "--description", "Greets."]);
        lathe.run(&[noun, "create", "greet", "--content", "x"]).refused(1, &["greet"]);
        assert_eq!(lathe.ok(&[noun, "show", "greet", "--content"]), "# Greet {{customer}}\n");
        lathe.ok(&[noun, "edit", "greet", "--content", "Hello {{customer}}"]);
        assert!(lathe.ok(&[noun, "show", "greet"]).contains("Hello {{customer}}"));
        assert_eq!(lathe.ok(&[noun, "show", "greet", "--version", "1", "--content"]), "# Greet {{customer}}\n");
        lathe.run(&[noun, "show", "greet", "--version", "9"]).refused(1, &["version not found"]);
        lathe.run(&[noun, "show", "other"]).refused(1, &[&format!("there is no {noun} `other`")]);
        let listed = lathe.ok(&[noun, "list"]);
        assert!(listed.contains("greet") && listed.contains("Greets."), "{listed}");
    }
    lathe.ok(&["skill", "delete", "greet"]);
    lathe.run(&["skill", "show", "greet"]).refused(1, &["there is no skill `greet`"]);
}

#[test]
fn rules_tasks_artifacts_and_preferences() {
    let team = Team::new();
    let lathe = team.lathe();
    rules(&lathe);
    tasks(&lathe);
    artifacts(&team, &lathe);
    lathe.ok(&["preference", "set", "tone", "formal"]);
    lathe.ok(&["preference", "set", "limits", r#"{"mails": 3}"#]);
    assert_eq!(lathe.json(&["preference", "show", "limits"])["value"], json!({"mails": 3}));
    assert!(lathe.ok(&["preference", "list"]).contains("formal"));
    lathe.ok(&["preference", "unset", "tone"]);
    lathe.run(&["preference", "show", "tone"]).refused(1, &["there is no preference `tone`"]);
}

fn rules(lathe: &Lathe<'_>) {
    let rule =
        ["rule", "create", "Never pay twice.", "--category", "must-not", "--tool", "pay", "--enforcement", "gate"];
    let rule = lathe.json(&rule);
    assert_eq!((&rule["severity"], &rule["triggers"]["tool_name"]), (&json!("medium"), &json!("pay")));
    let id = id(&rule, "rule_id");
    lathe.ok(&["rule", "edit", &id, "--enabled", "false", "--severity", "high"]);
    assert_eq!(lathe.json(&["rule", "list", "--enabled"])["items"], json!([]));
    assert!(lathe.ok(&["rule", "list", "--category", "must-not"]).contains("high"));
    lathe.ok(&["rule", "delete", &id]);
}

fn tasks(lathe: &Lathe<'_>) {
    let task =
        lathe.json(&["task", "create", "Send the report.", "--cron", "0 9 * * 1-5", "--timezone", "Europe/Berlin"]);
    let id = id(&task, "task_id");
    lathe.ok(&["task", "skip-next", &id]);
    assert!(lathe.ok(&["task", "end-recurrence", &id]).contains("ended the recurrence"));
    let once = lathe.json(&["task", "create", "Call Ann."]);
    let once = self::id(&once, "task_id");
    lathe.ok(&["task", "complete", &once, "--result", "She agreed."]);
    assert!(lathe.ok(&["task", "list", "--status", "done"]).contains(&once));
    lathe.run(&["task", "cancel", &once]).refused(1, &["done"]);
    lathe.run(&["task", "create", "x", "--cron", "never"]).refused(1, &["cron"]);
    lathe.ok(&["task", "delete", &once]);
}

fn artifacts(team: &Team, lathe: &Lathe<'_>) {
    let bob = team.joined_by("bob", "author");
    let artifact =
        ["artifact", "create", "Sales", "--type", "report", "--content", "# Sales", "--content-type", "text/markdown"];
    let id = id(&lathe.json(&artifact), "artifact_id");
    bob.lathe().run(&["artifact", "show", &id]).refused(1, &["there is no artifact"]);
    lathe.ok(&["artifact", "share", &id, "--user", "bob"]);
    assert_eq!(bob.lathe().ok(&["artifact", "show", &id, "--content"]), "# Sales");
    let linked = lathe.json(&["artifact", "show", &id, "--link"]);
    assert!(linked["download_url"].as_str().is_some_and(|url| url.contains("/api/v1/downloads/")), "{linked}");
    lathe.ok(&["artifact", "delete", &id]);
    // The bytes of a file that is no text.
    let file = team.home().join("picture.bin");
    std::fs::write(&file, [0xff, 0xfe, 0x00]).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let picture = lathe.json(&["artifact", "create", "Picture", "--file", file, "--content-type", "image/png"]);
    assert_eq!((&picture["content_encoding"], &picture["content"]), (&json!("base64"), &json!("//4A")));
    let shown = lathe.command(&["artifact", "show", &self::id(&picture, "artifact_id"), "--content"]).output();
    assert_eq!(shown.expect("the program starts").stdout, [0xff, 0xfe, 0x00]);
}
