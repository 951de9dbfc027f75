//! `lathe envvar`, and what a publish says about variables.

use serde_json::json;

use crate::harness::{Team, failed_builds};

#[test]
fn a_plain_variable_becomes_a_secret_or_stays_what_it_is() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("shop").manifest("required_secret_envvars = ['SHOP_KEY']");
    let tool = tool.body("return config.secrets['SHOP_KEY']").pushed();
    tool.id();
    lathe.ok(&["envvar", "set", "shop", "SHOP_KEY=plain", "OTHER=x"]);
    let listed = lathe.json(&["envvar", "list", "shop"]);
    assert_eq!(listed["variables"][1], json!({"name": "SHOP_KEY", "is_secret": false, "required_by": []}));
    let said = lathe.run(&["tool", "publish", "shop", "--bump", "minor"]);
    let mend =
        "SHOP_KEY is set as a plain variable; this version needs a secret: `lathe envvar set shop SHOP_KEY=- --secret`";
    said.refused(1, &[mend]);
    let set = lathe.run_with(&["--json", "envvar", "set", "shop", "SHOP_KEY=-", "--secret"], "s3cret").ok();
    assert_eq!((&set.document()["made_secret"], &set.document()["updated"]), (&json!(1), &json!(0)));
    lathe.ok(&["tool", "publish", "shop", "--bump", "minor"]);
    assert_eq!(lathe.ok(&["tool", "invoke", "shop"]).trim(), "s3cret");
    let table = lathe.ok(&["envvar", "list", "shop"]);
    assert!(table.contains("secret  1.0.0") && table.contains("plain   -") && !table.contains("s3cret"), "{table}");
    // A secret stays one without the option.
    lathe.ok(&["envvar", "set", "shop", "SHOP_KEY=new"]);
    assert_eq!(lathe.json(&["envvar", "list", "shop"])["variables"][1]["is_secret"], true);
}

#[test]
fn a_plain_variable_in_use_does_not_become_a_secret() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("shop").manifest("required_envvars = ['REGION']").body("return config.envvars['REGION']");
    tool.set_variables(&[("REGION", "north", false)]);
    drop(tool.published());
    let refused = lathe.run(&["envvar", "set", "shop", "REGION=south", "NEW=x", "--secret"]);
    refused.refused(1, &["REGION", "1.0.0", "nothing was set"]);
    assert_eq!(lathe.ok(&["tool", "invoke", "shop"]).trim(), "north");
    assert!(!lathe.ok(&["envvar", "list", "shop"]).contains("NEW"));
}

#[test]
fn missing_variables_are_told_before_the_build() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team
        .tool("shop")
        .manifest("required_envvars = ['SHOP_URL']")
        .manifest("required_secret_envvars = ['SHOP_KEY']");
    let tool = tool.body("return )").pushed();
    let published = lathe.run(&["tool", "publish", tool.name.as_str(), "--bump", "minor"]);
    published.refused(1, &["there is no tool `shop`"]);
    tool.id();
    let said = lathe.run(&["tool", "publish", "shop", "--bump", "minor"]);
    said.refused(1, &["`lathe envvar set shop SHOP_URL=VALUE`", "`lathe envvar set shop SHOP_KEY=- --secret`"]);
    // The syntax error of the project was not reached.
    assert!(!said.stderr.contains("compile"), "{said:?}");
    assert_eq!(failed_builds(team.server.data(), tool.id()).len(), 1);
    let test = ["tool", "test", "tools/shop", "--branch", &team.branch(), "--secret", "SHOP_URL=x"];
    let said = lathe.run(&test);
    said.refused(
        1,
        &[
            "the variable SHOP_URL, and it is given as the other kind: add `--envvar SHOP_URL=VALUE`",
            "--secret SHOP_KEY",
        ],
    );
}
