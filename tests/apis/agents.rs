//! APIs as agents list and call them.

use serde_json::{Value, json};

use super::{declared, function, orders};
use crate::agent_runs::runs::{AGENT, Runs, options};
use crate::calls::calling;
use crate::harness::{ModelEndpoint, Reply, Server, Team};
use crate::mcp::client::Gateway;
use crate::turns::talk::{Agent, decision, names};

#[test]
fn each_api_is_a_tool_of_an_agent() {
    let team = Team::new();
    let tool = orders(&team).published();
    let gateway = Gateway::new(&team, "shop", &["orders"]);
    assert_eq!(gateway.names(), ["lathe__whoami", "orders_create", "orders_list"]);
    let listed = gateway.send("tools/list", json!({}))["result"]["tools"].take();
    let (create, list) = (&listed[1], &listed[2]);
    assert_eq!(
        (&create["description"], &create["inputSchema"]["required"]),
        (&json!("The API create."), &json!(["item"]))
    );
    assert_eq!(list["annotations"]["readOnlyHint"], true, "the default of the API's name: {list}");
    assert_eq!(create["_meta"]["dev.lathe/api"], "create", "{create}");
    let called = gateway.call("orders_create", json!({"item": "pen"}));
    assert_eq!(called["content"][0]["text"], r#"{"created":"pen","count":1}"#, "{called}");
    let record = team.get(&format!("/tool/invocation/{}", called["_meta"]["dev.lathe/invocationId"].as_str().unwrap()));
    assert_eq!(record["inputs"], json!({"api": "create", "arguments": {"item": "pen"}}), "{record}");
    assert_eq!(record["tool_id"], *tool.id(), "{record}");
    let whole = gateway.send("tools/call", json!({"name": "orders", "arguments": {"api": "list", "arguments": {}}}));
    assert_eq!(whole["error"]["message"], "Unknown tool: orders", "{whole}");
}

#[test]
fn violations_are_places_in_the_arguments() {
    let team = Team::new();
    orders(&team).published();
    let gateway = Gateway::new(&team, "shop", &["orders"]);
    let text = |arguments: Value| gateway.call("orders_create", arguments)["content"][0]["text"].to_string();
    assert!(text(json!({"item": 1})).starts_with("\"input_schema: /item: "), "{}", text(json!({"item": 1})));
    assert!(text(json!({})).starts_with("\"input_schema: arguments: "), "{}", text(json!({})));
    let nested = text(json!({"api": "list", "arguments": {}}));
    assert!(nested.starts_with("\"input_schema: arguments: "), "{nested}");
}

#[test]
fn the_formats_of_models_have_the_apis() {
    let team = Team::new();
    orders(&team).published();
    team.tool("shout").published();
    let gateway = Gateway::new(&team, "shop", &["orders", "shout"]);
    let tools = |format: &str| team.get(&format!("/agent/{}/tools?format={format}", gateway.id))["tools"].take();
    let openai = tools("openai");
    let function = openai.as_array().unwrap().iter().find(|tool| tool["function"]["name"] == "orders_create");
    assert_eq!(function.unwrap()["function"]["parameters"]["required"], json!(["item"]), "{openai}");
    let lobe = tools("lobe");
    let family = lobe.as_array().unwrap().iter().find(|family| family["meta"]["title"] == "orders").unwrap();
    let names: Vec<_> = family["api"].as_array().unwrap().iter().map(|api| &api["name"]).collect();
    assert_eq!(names, ["orders_create", "orders_list"], "{lobe}");
    assert_eq!(family["meta"]["title"], "orders", "{lobe}");
    let others = lobe
        .as_array()
        .unwrap()
        .iter()
        .find(|family| family["identifier"] == format!("lathe-{}-tools", gateway.id))
        .unwrap();
    assert_eq!(others["api"].as_array().unwrap().len(), 1, "{lobe}");
}

#[test]
fn a_turn_presents_the_apis_and_calls_them() {
    let team = Team::new();
    let tool = orders(&team).published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    assert_eq!(names(&turn), ["orders_create", "orders_list"], "{turn}");
    assert_eq!(turn["tools"][0]["api"], "create", "{turn}");
    let run = talk.run(&turn, "orders_create", json!({"item": "pen"}));
    assert_eq!(run.json(), json!({"created": "pen", "count": 1}));
    assert_eq!(agent.call(&turn, "orders_list", json!({}))["result"]["content"][0]["text"], r#"{"listed":{}}"#);
    for name in ["orders", tool.id()] {
        assert_eq!(talk.call(&turn, name, json!({})).code(), "tool_not_presented", "{name}");
    }
    let refused = talk.call(&turn, "orders_create", json!({"item": 1}));
    assert!(refused.detail().contains("input_parameters/item: "), "{refused}");
}

#[test]
fn a_run_of_an_agent_calls_an_api() {
    let model = ModelEndpoint::serve();
    let team = Team::on(&Server::private(&options(&model)));
    orders(&team).published();
    Gateway::of_type(&team, AGENT, "agent").with(&["orders"]);
    let runs = Runs { team, model };
    let replies = vec![Reply::call("orders_create", json!({"item": "pen"})), Reply::complete("ok")];
    let run = runs.execute("order", &["__complete__", "orders_create"], replies);
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(runs.last_observation("order"), r#"{"created":"pen","count":1}"#);
}

#[test]
fn another_tool_calls_an_api_with_its_name() {
    let team = Team::new();
    orders(&team).published();
    let tool = calling(&team, "asks", "orders = '>=1'").published();
    let call = json!({"api": "create", "arguments": {"item": "pen"}});
    let run = tool.invoke(json!({"calls": [["orders", call], ["orders_create", {"item": "pen"}]]}));
    assert_eq!(run.json()[0], json!({"created": "pen", "count": 1}), "{run}");
    assert_eq!(run.json()[1]["code"], "denied", "{run}");
}

#[test]
fn the_declaration_of_an_api_says_who_confirms_its_calls() {
    let team = Team::new();
    let code = ["create", "list", "remove"].map(|name| function(name, "", "return 'done'")).concat();
    let tool = orders(&team).manifest(&declared("remove", "intervention = 'always'")).with_file("tool.py", &code);
    let tool = tool.published();
    let gateway = Gateway::new(&team, "shop", &["orders"]);
    assert_eq!(gateway.call("orders_create", json!({}))["content"][0]["text"], "done");
    let asked = gateway.call("orders_remove", json!({}));
    assert!(asked["content"][0]["text"].as_str().unwrap().starts_with("confirmation_missing"), "{asked}");
    let invoke = |api: &str| {
        let call = json!({"api": api, "arguments": {}});
        tool.invoke_request(&json!({"inputs": [crate::harness::input(&call)]})).send()
    };
    assert_eq!(invoke("create").status, 200);
    assert_eq!(invoke("remove").code(), "confirmation_missing");
}
