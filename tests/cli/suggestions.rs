//! Misspelt names: the error suggests the name that was meant.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Options, Server, Team};
use crate::mcp::client::Gateway;

#[test]
fn misspelt_names_are_answered_with_the_ones_that_were_meant() {
    let team = Team::new();
    let (lathe, _tool) = (team.lathe(), team.tool("weather").published());
    lathe.ok(&["agent", "create", "support", "--description", "Helps."]);
    lathe.ok(&["role", "create", "searcher", "--grant", "Tool:GetTool"]);
    lathe.ok(&["user", "create", "barbara", "--role", "invoker"]);
    lathe.ok(&["envvar", "set", "weather", "API_KEY=x"]);
    lathe.ok(&["user", "variable", "set", "home_city=Oslo"]);
    for (command, meant) in [
        (&["tool", "invoke", "waether"][..], "weather"),
        (&["tool", "show", "wether"], "weather"),
        (&["history", "list", "--tool", "wheather"], "weather"),
        (&["agent", "show", "suport"], "support"),
        (&["agent", "assign", "support", "wether"], "weather"),
        (&["role", "show", "seacher"], "searcher"),
        (&["role", "delete", "seracher"], "searcher"),
        (&["user", "edit", "barbra", "--role", "invoker"], "barbara"),
        (&["user", "edit", "barbara", "--role", "sercher"], "searcher"),
        (&["user", "create", "carl", "--role", "invokr"], "invoker"),
        (&["user", "delete", "babara"], "barbara"),
        (&["envvar", "unset", "weather", "API_KYE"], "API_KEY"),
        (&["user", "variable", "unset", "home_ctiy"], "home_city"),
    ] {
        let said = lathe.run(command);
        said.refused(1, &[&format!("did you mean `{meant}`")]);
    }
    // A name like none of them gets none.
    assert!(!lathe.run(&["tool", "show", "nothing_like_it"]).stderr.contains("did you mean"));
    let refused = lathe.run(&["role", "create", "other", "--grant", "Tool:InvokTool"]);
    refused.refused(
        1,
        &["must be a permission that roles can grant: Tool:CreateTool, ", "did you mean `Tool:InvokeTool`"],
    );
    lathe.run(&["key", "create", "laptop"]).refused(2, &["unexpected argument 'laptop'", "--name <NAME>"]);
}

#[test]
fn misspelt_tools_and_arguments_of_a_model_are_answered_with_the_ones_that_were_meant() {
    let team = Team::new();
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit", "kelvin", "rankine", "reaumur"]}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let tool =
        team.tool("weather").manifest("input_schema = 'schema.json'").with_file("schema.json", &schema.to_string());
    let _tool = tool.published();
    let gateway = Gateway::new(&team, "sky", &["weather"]);
    let refused = gateway.send("tools/call", json!({"name": "wether", "arguments": {}}));
    assert_eq!(refused["error"]["message"], "Unknown tool: wether; did you mean `weather`?", "{refused}");
    let text =
        |arguments: Value| gateway.call("weather", arguments)["content"][0]["text"].as_str().expect("text").to_owned();
    let told = text(json!({"city": "Oslo", "unit": "kelvn"}));
    assert!(told.contains(r#""reaumur"; did you mean `kelvin`?"#), "all values are listed: {told}");
    let told = text(json!({"city": "Oslo", "unti": "kelvin"}));
    assert!(
        told.contains("`unti` is no property of the schema, which has `city`, `unit`; did you mean `unit`?"),
        "{told}"
    );
}

#[test]
fn a_misspelt_variable_of_the_environment_is_logged() {
    let environment = vec![("LATHE_EGRESS_HOST".to_owned(), "none".to_owned())];
    let server = Server::private(&Options { environment, ..Options::default() });
    assert!(server.log_about("LATHE_EGRESS_HOST").contains("did you mean LATHE_EGRESS_HOSTS?"));
    server.signal(Signal::SIGTERM);
    server.ended();
}
