//! `lathe user`, `lathe role` and `lathe key`.

use serde_json::{Value, json};

use crate::harness::{Lathe, Team};

#[test]
fn users_and_roles() {
    let team = Team::new();
    let lathe = team.lathe();
    let invoke = "Tool:InvokeTool if tool_name startsWith search_ and tag.env notEqual prod";
    let made = lathe.json(&["role", "create", "searcher", "--grant", "Tool:GetTool", "--grant", invoke]);
    assert_eq!(made["grants"][1]["conditions"][1], json!({"key": "tag.env", "operator": "notEqual", "value": "prod"}));
    assert!(lathe.ok(&["user", "create", "bob", "--role", "searcher"]).contains("lathe key create --user bob"));
    let table = lathe.ok(&["user", "list"]);
    assert!(table.contains("ada") && table.contains("admin") && table.contains("searcher"), "{table}");
    assert!(lathe.ok(&["role", "show", "searcher"]).contains(invoke));
    let roles = lathe.json(&["role", "list"]);
    let names: Vec<&str> =
        roles["roles"].as_array().expect("a list").iter().filter_map(|r| r["name"].as_str()).collect();
    assert_eq!(names, ["admin", "author", "invoker", "auditor", "searcher"]);
    assert!(lathe.ok(&["role", "list"]).contains("built in"));
    lathe.run_with(&["role", "edit", "searcher", "--file", "-"], r#"[{"permission": "Tool:GetTool"}]"#).ok();
    assert_eq!(lathe.json(&["role", "show", "searcher"])["grants"].as_array().map(Vec::len), Some(1));
    lathe.run(&["role", "edit", "baker", "--grant", "Tool:GetTool"]).refused(1, &["role `baker`", "lathe role list"]);
    assert_eq!(lathe.json(&["user", "show", "bob"])["role"], "searcher");
    assert!(lathe.ok(&["user", "show", "bob"]).contains("searcher"));
    lathe.run(&["user", "show", "carl"]).refused(1, &["user `carl`", "lathe user list"]);
    lathe.run(&["role", "delete", "searcher"]).refused(1, &["searcher", "lathe user edit"]);
    assert_eq!(lathe.json(&["user", "edit", "bob", "--role", "auditor"]), json!({"user_id": "bob", "role": "auditor"}));
    lathe.ok(&["role", "delete", "searcher"]);
    assert!(lathe.ok(&["user", "delete", "bob"]).contains("deleted bob"));
    assert_eq!(lathe.json(&["user", "list"])["users"].as_array().map(Vec::len), Some(1));
}

#[test]
fn refusals_name_the_next_step() {
    let team = Team::new();
    let lathe = team.lathe();
    lathe.run(&["user", "create", "bob", "--role", "baker"]).refused(1, &["baker", "lathe role list"]);
    lathe.run(&["user", "delete", "ada"]).refused(1, &["Organization:Admin", "lathe user edit"]);
    lathe.run(&["user", "edit", "bob", "--role", "author"]).refused(1, &["user `bob`", "lathe user list"]);
    lathe.run(&["role", "show", "baker"]).refused(1, &["role `baker`", "lathe role list"]);
    lathe.run(&["role", "delete", "admin"]).refused(1, &["built in"]);
    lathe.run(&["role", "create", "baker"]).refused(2, &["no grants", "--file"]);
    lathe.run(&["role", "create", "baker", "--grant", "Tool:Bake"]).refused(1, &["--grant 1 permission"]);
    let regex = "Tool:InvokeTool if tool_name regex (";
    lathe.run(&["role", "create", "baker", "--grant", regex]).refused(1, &["regular expression"]);
    lathe.run(&["key", "create", "--user", "bob"]).refused(1, &["user `bob`", "lathe user create"]);
    lathe.run(&["key", "create", "--expires-in", "soon"]).refused(2, &["90d"]);
    lathe.run(&["key", "revoke", "aaaaaaaaaaaa"]).refused(1, &["key `aaaaaaaaaaaa`", "lathe key list"]);
    lathe.run(&["user", "list", "--help"]).ok();
}

#[test]
fn keys() {
    let team = Team::new();
    let lathe = team.lathe();
    lathe.ok(&["user", "create", "bob", "--role", "auditor"]);
    let key = lathe.json(&["key", "create", "--user", "bob", "--name", "laptop", "--expires-in", "90d"]);
    let text = |name: &str| key[name].as_str().expect("text").to_owned();
    let home = tempfile::tempdir().expect("a directory");
    let bob = Lathe { home: home.path(), directory: home.path() };
    let login = ["login", "--url", &team.server.url, "--org", &team.organization, "--user", "bob", "--api-key-id"];
    bob.run_with(&[&login[..], &[&text("api_key_id")]].concat(), &text("api_key")).ok();
    assert!(bob.ok(&["whoami"]).contains("Tool:GetInvocation"));
    assert_eq!(bob.json(&["whoami"])["role"], "auditor");
    let listed = bob.json(&["key", "list"]);
    assert_eq!(
        (&listed["api_keys"][0]["name"], &listed["api_keys"][0]["revoked_at"]),
        (&json!("laptop"), &Value::Null)
    );
    assert!(!bob.ok(&["key", "list"]).contains(&text("api_key")));
    bob.run(&["key", "list", "--all"]).refused(1, &["Organization:Admin", "administrator"]);
    bob.run(&["key", "revoke", &team.api_key_id]).refused(1, &["Organization:Admin"]);
    let own = bob.json(&["key", "create"]);
    bob.ok(&["key", "revoke", own["api_key_id"].as_str().expect("an id")]);
    assert_eq!(lathe.json(&["key", "list", "--user", "bob"])["api_keys"].as_array().map(Vec::len), Some(2));
    assert!(lathe.ok(&["key", "list", "--all"]).contains("laptop"));
    lathe.ok(&["key", "revoke", &text("api_key_id")]);
    bob.run(&["whoami"]).refused(1, &["lathe login"]);
}

/// Continuation tokens are numbers without an order.
#[test]
fn a_list_is_followed_to_its_end() {
    let team = Team::new();
    for number in 0..350 {
        team.post("/user", &json!({"user_id": format!("user{number}"), "role": "invoker"})).expect(201);
    }
    let listed = team.lathe().json(&["user", "list"]);
    let users: std::collections::BTreeSet<_> =
        listed["users"].as_array().expect("a list").iter().map(|user| user["user_id"].to_string()).collect();
    assert_eq!(users.len(), 351);
}
