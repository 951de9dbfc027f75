//! `tools/list`: which tools a client sees, in which form and order.

use serde_json::{Value, json};

use super::client::{Gateway, nested_schema, of_nested, of_text};
use crate::harness::{Bump, Team};

/// The tools of an agent in a form.
fn tools(gateway: &Gateway, format: &str) -> Vec<Value> {
    let shown = gateway.team.get(&format!("/agent/{}/tools?format={format}", gateway.id));
    shown["tools"].as_array().cloned().unwrap_or_else(|| panic!("{shown}"))
}

#[test]
fn a_client_sees_the_tools_of_the_running_revision() {
    let team = Team::new();
    let shout = of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    let _other = team.tool("get_rate").body("return 1").published();
    let _unassigned = team.tool("hidden").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["shout", "get_rate"]);
    let listed = gateway.send("tools/list", json!({}));
    let result = &listed["result"];
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")), "{listed}");
    assert!(result["ttlMs"].as_u64().is_some_and(|time| time > 0) && result["nextCursor"].is_null(), "{listed}");
    let tools = result["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["lathe__whoami", "get_rate", "shout"], "families and names in order");
    let version = team.get(&format!("/tool/{}/version/1.0.0", shout.id()));
    let shown = &tools[2];
    assert_eq!(shown["inputSchema"]["properties"]["text"]["type"], "string", "{shown}");
    assert_eq!(shown["_meta"]["dev.lathe/tool"], *shout.id(), "{shown}");
    assert_eq!(shown["_meta"]["dev.lathe/version"], "1.0.0");
    assert_eq!(shown["_meta"]["dev.lathe/component"], version["component_digest"], "{version}");
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], true, "{}", tools[1]);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true, "{}", tools[0]);
}

#[test]
fn a_list_shows_only_what_the_user_may_invoke() {
    let team = Team::new();
    for name in ["get_rate", "pay"] {
        team.tool(name).body("return 1").published();
    }
    let gateway = Gateway::new(&team, "tools", &["get_rate", "pay"]);
    let grants = json!([{
        "permission": "Tool:InvokeTool",
        "conditions": [{"key": "tool_name", "operator": "startsWith", "value": "get_"}],
    }]);
    team.post("/role", &json!({"name": "reader", "grants": grants})).expect(201);
    let reader = team.joined_by("bob", "reader");
    let own = Gateway { team: &reader, slug: gateway.slug.clone(), id: gateway.id.clone() };
    assert_eq!(own.names(), ["lathe__whoami", "get_rate"]);
    let refused = own.send("tools/call", json!({"name": "pay", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602, "a tool that is not listed is unknown: {refused}");
}

/// The catalogue of an agent is kept for a second, but not across changes.
#[test]
fn the_next_list_shows_a_change_of_rights_and_of_versions() {
    let team = Team::new();
    let mut tool = team.tool("pay").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let grants = json!([{"permission": "Tool:InvokeTool"}]);
    team.post("/role", &json!({"name": "payer", "grants": grants})).expect(201);
    let payer = team.joined_by("bob", "payer");
    let own = Gateway { team: &payer, slug: gateway.slug.clone(), id: gateway.id.clone() };
    for body in ["return 2", "return 3"] {
        tool = tool.body(body).pushed();
        tool.publish(Bump::Major).expect(201);
    }
    for version in ["3.0.0", "2.0.0", "1.0.0"] {
        let listed = own.send("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"][1]["_meta"]["dev.lathe/version"], version, "{listed}");
        let path = format!("/tool/{}/version/{version}", tool.id());
        team.request("DELETE", &path).send().expect(204);
    }
    assert_eq!(own.names(), ["lathe__whoami"]);
    tool.body("return 4").pushed().publish(Bump::Major).expect(201);
    assert_eq!(own.names(), ["lathe__whoami", "pay"]);
    team.post("/role/payer", &json!({"grants": []})).expect(204);
    assert_eq!(own.names(), ["lathe__whoami"]);
}

#[test]
fn a_cursor_of_another_gateway_is_refused() {
    let team = Team::new();
    team.tool("shout").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    for cursor in ["1", "0.00", "100.0123456789abcdef0123456789abcdef"] {
        let refused = gateway.send("tools/list", json!({"cursor": cursor}));
        assert_eq!(refused["error"]["code"], -32602, "{cursor}: {refused}");
    }
}

#[test]
fn with_search_a_client_sees_two_tools_that_find_and_run_the_others() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    team.tool("get_rate").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["shout", "get_rate"]);
    team.lathe().ok(&["agent", "edit", "tools", "--tool-exposure", "search"]);
    team.lathe().ok(&["agent", "deploy", "tools"]);
    assert_eq!(gateway.names(), ["run_tool", "search_tools"]);
    let found = gateway.call("search_tools", json!({"query": "shout"}));
    let tools = &found["structuredContent"]["tools"];
    assert_eq!((&tools[0]["name"], tools.as_array().unwrap().len()), (&json!("shout"), 1), "{found}");
    let found = gateway.call("search_tools", json!({"query": "shuot yell"}));
    let expected = json!([{"word": "shuot", "taken_for": ["shout"]}, {"word": "yell", "taken_for": ["shout"]}]);
    assert_eq!(found["structuredContent"]["corrections"], expected, "{found}");
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "shout", "{found}");
    let many = (0..40).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let found = gateway.call("search_tools", json!({"query": format!("SHOUT {many}")}));
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "shout", "{found}");
    let found = gateway.call("search_tools", json!({"query": format!("{many} shout")}));
    assert_eq!(found["structuredContent"]["matches"], 0, "words beyond the bound are ignored: {found}");
    let long = gateway.call("search_tools", json!({"query": "shout ".repeat(160_000)}));
    let error = &long["_meta"]["dev.lathe/error"];
    assert_eq!((&long["isError"], &error["type"]), (&json!(true), &json!("input_schema")), "{long}");
    let long = gateway.call("run_tool", json!({"name": "x".repeat(1_000_000)}));
    assert!(long["isError"] == true && long.to_string().len() < 1_000, "a long name is not repeated");
    let ran = gateway.call("run_tool", json!({"name": "shout", "arguments": {"text": "hi"}}));
    assert_eq!(ran["content"][0]["text"], "HI", "{ran}");
    let run = ran["_meta"]["dev.lathe/invocationId"].as_str().unwrap();
    let record = team.get(&format!("/tool/invocation/{run}"));
    assert_eq!(record["inputs"], json!({"text": "hi"}), "the record is that of the tool: {record}");
    let unknown = gateway.call("run_tool", json!({"name": "nothing"}));
    assert_eq!(unknown["isError"], true, "{unknown}");
    let direct = gateway.send("tools/call", json!({"name": "shout", "arguments": {"text": "hi"}}));
    assert_eq!(direct["error"]["code"], -32602, "{direct}");
}

#[test]
fn every_format_has_the_names_and_the_schemas() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let tools = |format: &str| tools(&gateway, format);
    assert_eq!(tools("mcp")[1]["inputSchema"]["required"], json!(["text"]));
    let function = &tools("openai")[1]["function"];
    assert_eq!((&function["name"], &function["strict"]), (&json!("shout"), &json!(true)), "{function}");
    assert_eq!(tools("openai-responses")[1]["parameters"]["required"], json!(["text"]));
    assert_eq!(tools("anthropic")[1]["input_schema"]["required"], json!(["text"]));
    assert_eq!(tools("gemini")[1]["parametersJsonSchema"]["required"], json!(["text"]));
    assert_eq!(tools("lobe")[1]["api"][0]["name"], "shout");
    assert!(tools("lobe")[1]["systemRole"].is_null(), "only families of the Library have instructions");
    let agent = Gateway::of_type(&team, "keeper", "agent").with(&[]);
    let listed = team.get(&format!("/agent/{}/tools?format=lobe", agent.id))["tools"].take();
    let families = listed.as_array().expect("families").iter();
    let roles: Vec<_> = families.filter_map(|family| family["systemRole"].as_str()).collect();
    assert!(roles.len() == 7 && roles.iter().any(|role| role.contains("- task_create: ")), "{roles:?}");
}

#[test]
fn s4_027_every_format_has_the_schemas_unchanged() {
    let team = Team::new();
    of_nested(team.tool("order")).body("return 1").published();
    let gateway = Gateway::of_type(&team, "typed", "agent").with(&["order"]);
    let schemas = |format: &str, pointer: &str| -> Vec<Value> {
        let shown = tools(&gateway, format);
        shown.iter().map(|tool| tool.pointer(pointer).cloned().unwrap_or_else(|| panic!("{tool}"))).collect()
    };
    let expected = schemas("mcp", "/inputSchema");
    assert!(expected.contains(&nested_schema()) && expected.len() > 36, "with the tools of the Library: {expected:?}");
    for (format, pointer) in [
        ("openai", "/function/parameters"),
        ("openai-responses", "/parameters"),
        ("anthropic", "/input_schema"),
        ("gemini", "/parametersJsonSchema"),
    ] {
        assert_eq!(schemas(format, pointer), expected, "{format}");
    }
    let manifests = tools(&gateway, "lobe");
    let functions = manifests.iter().flat_map(|manifest| manifest["api"].as_array().expect("functions"));
    assert_eq!(functions.map(|function| function["parameters"].clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn s4_002_016_and_019_to_021_each_family_has_a_manifest_of_lobe() {
    let team = Team::new();
    of_nested(team.tool("order")).body("return 1").published();
    let gateway = Gateway::of_type(&team, "desk", "agent").with(&["order"]);
    let manifests = tools(&gateway, "lobe");
    let identifiers: Vec<_> = manifests.iter().map(|manifest| manifest["identifier"].clone()).collect();
    let families = ["artifacts", "lathe", "memory", "preferences", "prompts", "rules", "skills", "tasks", "tools"];
    assert_eq!(identifiers, families.map(|family| format!("lathe-{}-{family}", gateway.id)));
    let order = json!({"name": "order", "description": "A tool of a test.", "parameters": nested_schema()});
    let meta = json!({"title": "desk", "description": "Tools of the team.", "avatar": "🔧"});
    let expected = json!({
        "identifier": format!("lathe-{}-tools", gateway.id), "type": "default", "version": "1", "meta": meta, "api": [order],
    });
    assert_eq!(manifests.last(), Some(&expected));
    for manifest in &manifests {
        assert_eq!(manifest["meta"], meta, "{manifest}");
    }
}
