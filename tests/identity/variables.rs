//! `lathe user variable`, and the variables of users in their runs.

use serde_json::{Value, json};

use crate::harness::{Team, input};

const PIN: &str = "very-secret-4711";

/// A tool that returns its user variables, and the lengths of the sensitive ones.
const BODY: &str = "return [dict(user_variables.nonsensitive), dict(user_variables.sensitive), \
    {name: len(value) for name, value in user_variables.sensitive.items()}]";

fn record(team: &Team, run: &str) -> Value {
    team.get(&format!("/tool/invocation/{run}"))
}

#[test]
fn a_run_receives_the_variables_of_its_user() {
    let team = Team::new();
    let tool = team.tool("shows").body(BODY).published();
    let lathe = team.lathe();
    lathe.ok(&["user", "variable", "set", "customer_id=8812", "region=north"]);
    let secret = lathe.run_with(&["user", "variable", "set", "pin=-", "--sensitive"], PIN);
    secret.ok();
    let run = tool.invoke(json!({}));
    assert_eq!(
        run.json(),
        json!([{"customer_id": "8812", "region": "north"}, {"pin": "[redacted]"}, {"pin": PIN.len()}])
    );
    let record = record(&team, run.id());
    assert_eq!(record["nonsensitive_user_variables"], json!({"customer_id": "8812", "region": "north"}));
    let stored = record.to_string();
    assert!(record["sensitive_user_variables"].get("pin").is_some() && !stored.contains(PIN), "{stored}");
    let listed = lathe.ok(&["user", "variable", "list"]);
    assert!(listed.contains("8812") && listed.contains("(sensitive)") && !listed.contains(PIN), "{listed}");
}

#[test]
fn what_the_caller_sends_counts() {
    let team = Team::new();
    let tool = team.tool("shows").body(BODY).published();
    let lathe = team.lathe();
    lathe.ok(&["user", "variable", "set", "region=north", "token=long-enough", "--sensitive"]);
    let mut one = input(&json!({}));
    one["nonsensitive_user_variables"] = json!({"region": "south"});
    let run = tool.invoke_inputs(&json!({ "inputs": [one] })).remove(0);
    assert_eq!(run.json(), json!([{"region": "south"}, {"token": "[redacted]"}, {"token": 11}]));
    lathe.ok(&["user", "variable", "unset", "region", "token"]);
    assert_eq!(tool.invoke(json!({})).json(), json!([{}, {}, {}]));
    lathe.run(&["user", "variable", "unset", "token"]).refused(1, &["variable `token`"]);
}

#[test]
fn administrators_set_the_variables_of_others() {
    let team = Team::new();
    let _tool = team.tool("shows").body(BODY).published();
    team.lathe().ok(&["user", "create", "bob", "--role", "invoker"]);
    team.lathe().ok(&["user", "variable", "set", "--user", "bob", "region=north"]);
    let listed = team.lathe().json(&["user", "variable", "list", "--user", "bob"]);
    assert_eq!(
        (&listed["variables"][0]["value"], &listed["variables"][0]["updated_by"]),
        (&json!("north"), &json!("ada"))
    );
    assert_eq!(team.lathe().json(&["user", "variable", "list"])["variables"], json!([]));
    team.lathe().run(&["user", "variable", "set", "--user", "nobody", "a1=x"]).refused(1, &["user `nobody`"]);
    team.lathe().run(&["user", "variable", "list", "--user", "nobody"]).refused(1, &["user `nobody`"]);
    team.lathe().run(&["user", "variable", "set", "Bad-Name=x"]).refused(1, &["name"]);
    let carl = team.joined_by("carl", "invoker");
    let others = carl.lathe();
    others.run(&["user", "variable", "list", "--user", "bob"]).refused(1, &["Organization:Admin"]);
    others.ok(&["user", "variable", "set", "region=west"]);
}
