//! Schemas without an object at their root, in every form in which clients get them.

use serde_json::{Value, json};

use super::client::{Gateway, of_text};
use crate::harness::{Team, Tool};

/// Roots without `"type": "object"`, each with arguments that it accepts and some that it refuses.
fn roots() -> Vec<(&'static str, Value, Value, Option<Value>)> {
    let variant = |tag: &str, name: &str| {
        let properties = json!({"kind": {"type": "string", "const": tag}, name: {"type": "number"}});
        json!({"type": "object", "properties": properties, "required": ["kind", name]})
    };
    let tagged = json!({"title": "Shape", "oneOf": [variant("circle", "radius"), variant("square", "side")]});
    let circle = json!({"kind": "circle", "radius": 1});
    let point = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]});
    let referred = json!({"$ref": "#/$defs/point", "$defs": {"point": point}});
    let both = json!({"allOf": [point, {"properties": {"y": {"type": "number"}}, "required": ["y"]}]});
    vec![
        ("tagged", tagged, circle, Some(json!({"kind": "circle", "side": 1}))),
        ("referred", referred, json!({"x": 1}), Some(json!({"x": "1"}))),
        ("both", both, json!({"x": 1, "y": 2}), Some(json!({"x": 1}))),
        ("either", json!({"anyOf": [point, {"type": "null"}]}), json!({"x": 1}), Some(json!({}))),
        ("anything", json!({}), json!({"a": 1}), None),
        ("nullable", json!({"type": ["object", "null"], "required": ["x"]}), json!({"x": 1}), Some(json!({}))),
        ("loose", json!({"properties": {"x": true, "y": false}}), json!({"x": []}), Some(json!({"y": 1}))),
    ]
}

fn with_schema<'t>(tool: Tool<'t>, schema: &Value) -> Tool<'t> {
    tool.with_file("input.json", &schema.to_string()).manifest("input_schema = 'input.json'")
}

fn definitions(gateway: &Gateway, format: &str) -> Vec<Value> {
    let shown = gateway.team.get(&format!("/agent/{}/tools?format={format}", gateway.id));
    let tools = shown["tools"].as_array().cloned().unwrap_or_else(|| panic!("{shown}"));
    match format {
        "lobe" => tools.iter().flat_map(|plugin| plugin["api"].as_array().cloned().expect("functions")).collect(),
        "openai" => tools.into_iter().map(|mut tool| tool["function"].take()).collect(),
        _ => tools,
    }
}

/// What the official SDKs require: they refuse the whole list otherwise.
fn assert_is_object(schema: &Value, what: &str) {
    assert_eq!(schema["type"], "object", "{what}: {schema}");
    let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{what}: {schema}"));
    assert!(properties.values().all(Value::is_object), "{what}: {schema}");
    let required = schema.get("required").map(|required| required.as_array().cloned().expect("names"));
    assert!(required.into_iter().flatten().all(|name| name.is_string()), "{what}: {schema}");
}

fn matches(schema: &Value, arguments: &Value) -> bool {
    jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{error}: {schema}")).is_valid(arguments)
}

#[test]
fn every_root_is_an_object_in_every_form_and_says_what_it_said() {
    let team = Team::new();
    let names: Vec<_> = roots().iter().map(|(name, ..)| *name).collect();
    for (name, schema, ..) in roots() {
        with_schema(team.tool(name), &schema).body("return 'ran'").published();
    }
    let gateway = Gateway::new(&team, "roots", &names);
    let listed = gateway.send("tools/list", json!({}))["result"]["tools"].take();
    let listed = listed.as_array().expect("tools");
    for (name, schema, right, wrong) in roots() {
        let tool = listed.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}: {listed:?}"));
        let shown = &tool["inputSchema"];
        assert_is_object(shown, name);
        assert!(matches(shown, &right), "{name}: {shown}");
        assert!(wrong.iter().all(|wrong| !matches(shown, wrong)), "{name}: {shown} accepts more than {schema}");
        assert_eq!(gateway.call(name, right)["content"][0]["text"], "ran", "{name}");
        if let Some(wrong) = wrong {
            let refused = gateway.call(name, wrong);
            assert_eq!(refused["_meta"]["dev.lathe/error"]["type"], "input_schema", "{name}: {refused}");
        }
    }
    for (format, key) in [
        ("mcp", "inputSchema"),
        ("openai", "parameters"),
        ("openai-responses", "parameters"),
        ("anthropic", "input_schema"),
        ("gemini", "parametersJsonSchema"),
        ("lobe", "parameters"),
    ] {
        let tools = definitions(&gateway, format);
        for (name, _, right, _) in roots() {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{format}: {name}"));
            let shown = &tool[key];
            assert_is_object(shown, &format!("{format}: {name}"));
            assert!(matches(shown, &right), "{format}: {name}: {shown}");
            let refused = ["anyOf", "oneOf", "allOf", "enum", "not"];
            assert!(
                format == "mcp" || refused.iter().all(|keyword| shown.get(keyword).is_none()),
                "{format}: {name}: {shown}"
            );
        }
    }
    let tagged = definitions(&gateway, "openai").into_iter().find(|tool| tool["name"] == "tagged").expect("the tool");
    let parameters = &tagged["parameters"];
    assert_eq!(parameters["properties"]["kind"]["enum"], json!(["circle", "square"]), "{parameters}");
    assert_eq!(parameters["required"], json!(["kind"]), "{parameters}");
    assert!(parameters["description"].as_str().is_some_and(|text| text.contains("radius")), "{parameters}");
}

#[test]
fn outputs_that_are_objects_are_described_whatever_their_root() {
    let team = Team::new();
    let object = json!({"type": "object", "properties": {"n": {"type": "integer"}, "any": true}, "required": ["n"]});
    // A pattern of Rust and Python, which the SDK for TypeScript cannot compile.
    let foreign = json!({"type": "object", "properties": {"s": {"type": "string", "pattern": "^a\\-b$"}}});
    let of_output = |name: &'static str, schema: &Value| {
        team.tool(name)
            .body("return {'n': 1}")
            .with_file("out.json", &schema.to_string())
            .manifest("output_schema = 'out.json'")
            .published();
    };
    of_output("either", &json!({"anyOf": [object, {"$ref": "#/$defs/other"}], "$defs": {"other": object}}));
    of_output("referred", &json!({"$ref": "#/$defs/other", "$defs": {"other": object}}));
    of_output("foreign", &foreign);
    of_output("unclear", &json!({"anyOf": [object, {"type": "string"}]}));
    let gateway = Gateway::new(&team, "outputs", &["either", "foreign", "referred", "unclear"]);
    let listed = gateway.send("tools/list", json!({}))["result"]["tools"].take();
    let of = |name: &str| {
        let tool = listed.as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == name));
        tool.unwrap_or_else(|| panic!("{name}: {listed}"))["outputSchema"].clone()
    };
    for name in ["either", "referred"] {
        assert_eq!(of(name)["type"], "object", "{listed}");
        assert_eq!(gateway.call(name, json!({}))["structuredContent"], json!({"n": 1}), "{name}");
    }
    assert_eq!(of("referred")["properties"]["any"], json!({}), "{listed}");
    assert_eq!(of("foreign")["properties"]["s"], json!({"type": "string", "description": "Matches ^a\\-b$"}));
    assert!(of("unclear").is_null(), "its outputs may be texts: {listed}");
    let warned = team.lathe().run(&["agent", "deploy", "outputs"]).ok();
    assert!(!warned.stderr.contains("output schema of either"), "{warned:?}");
    assert!(warned.stderr.contains("the output schema of unclear has no \"type\" at its root (anyOf)"), "{warned:?}");
}

#[test]
fn a_deployment_warns_of_roots_that_are_no_objects() {
    let team = Team::new();
    with_schema(team.tool("shape"), &json!({"anyOf": [{"type": "object"}]})).body("return 1").published();
    of_text(team.tool("shout")).body("return 1").published();
    let spelt =
        json!({"type": "object", "properties": {"first name": {"type": "string"}, "größe": {}, "plain-1.x": {}}});
    with_schema(team.tool("spelt"), &spelt).body("return 1").published();
    let gateway = Gateway::new(&team, "shop", &["shape", "shout", "spelt"]);
    let deployed = team.post(&format!("/agent/{}/deploy", gateway.id), &json!({})).expect(200);
    let warnings = deployed["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.len(), 2, "{deployed}");
    let keys = warnings[1].as_str().expect("a text");
    assert!(keys.contains(r#"the input schema of spelt"#) && keys.contains(r#": "first name", "größe"; "#), "{keys}");
    let warning = warnings[0].as_str().expect("a text");
    assert!(
        warning.starts_with("the input schema of shape has no \"type\": \"object\" at its root (anyOf): "),
        "{warning}"
    );
}

#[test]
fn a_tool_with_the_name_of_a_control_tool_has_its_family_as_a_prefix() {
    let team = Team::new();
    let reserved = ["search_tools", "run_tool", "__log_progress__", "__complete__", "3d_render"];
    for name in reserved {
        of_text(team.tool(name)).body("return 'own: ' + tool_input['text']").published();
    }
    let gateway = Gateway::new(&team, "desk", &reserved);
    let mut names = gateway.names();
    names.retain(|name| name.starts_with("tools_"));
    // The order is that of the names without the prefix. Gemini refuses names that begin with a digit.
    let expected = ["3d_render", "__complete__", "__log_progress__", "run_tool", "search_tools"];
    assert_eq!(names, expected.map(|name| format!("tools_{name}")));
    let ran = gateway.call("tools_search_tools", json!({"text": "hi"}));
    assert_eq!(ran["content"][0]["text"], "own: hi", "{ran}");
    team.lathe().ok(&["agent", "edit", "desk", "--tool-exposure", "search"]);
    team.lathe().ok(&["agent", "deploy", "desk"]);
    let found = gateway.call("search_tools", json!({"query": "log"}));
    assert_eq!(found["structuredContent"]["tools"][0]["name"], "tools___log_progress__", "{found}");
    let ran = gateway.call("run_tool", json!({"name": "tools_run_tool", "arguments": {"text": "hi"}}));
    assert_eq!(ran["content"][0]["text"], "own: hi", "{ran}");
}

#[test]
fn functions_of_lobe_have_their_own_titles_and_confirmations() {
    let team = Team::new();
    let pay = of_text(team.tool("pay")).body("return 1");
    pay.manifest("intervention = 'required'").manifest("annotations = { title = 'Pay a bill' }").published();
    of_text(team.tool("look")).body("return 1").published();
    let gateway = Gateway::new(&team, "shop", &["pay", "look"]);
    team.lathe().ok(&["agent", "assign", "shop", "look", "--human-intervention", r#"{"policy": "always"}"#]);
    team.lathe().ok(&["agent", "deploy", "shop"]);
    let functions = definitions(&gateway, "lobe");
    let of = |name: &str| functions.iter().find(|function| function["name"] == name).expect("the function");
    assert_eq!((&of("pay")["title"], &of("pay")["humanIntervention"]), (&json!("Pay a bill"), &json!("required")));
    assert_eq!((&of("look")["title"], &of("look")["humanIntervention"]), (&Value::Null, &json!("always")));
    assert_eq!(of("lathe__whoami")["humanIntervention"], Value::Null);
    assert!(of("lathe__whoami")["title"].is_string());
}

/// The rules of a linter for schemas of tools: one type in each place, and no schema that says nothing.
#[test]
fn schemas_of_the_server_are_written_portably() {
    let team = Team::new();
    let gateway = Gateway::of_type(&team, "keeper", "agent").with(&[]);
    let tools = gateway.send("tools/list", json!({}))["result"]["tools"].take();
    let tools = tools.as_array().expect("tools");
    assert!(tools.len() > 36, "with the tools of the Library");
    let mut problems = Vec::new();
    for tool in tools {
        for key in ["inputSchema", "outputSchema"] {
            lint(&tool[key], &format!("{}.{key}", tool["name"]), &mut problems);
        }
    }
    assert_eq!(problems, Vec::<String>::new());
}

fn lint(schema: &Value, place: &str, problems: &mut Vec<String>) {
    const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "examples", "$schema"];
    let Some(members) = schema.as_object() else {
        problems.push(format!("{place}: {schema} is no object"));
        return;
    };
    if members.get("type").is_some_and(Value::is_array) {
        problems.push(format!("{place}: several types"));
    }
    if members.keys().all(|key| ANNOTATIONS.contains(&key.as_str())) {
        problems.push(format!("{place}: says nothing"));
    }
    for (key, value) in members {
        let below = format!("{place}.{key}");
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(parts)) => {
                parts.iter().for_each(|(name, part)| lint(part, &format!("{below}.{name}"), problems));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                parts.iter().for_each(|part| lint(part, &below, problems));
            }
            ("items", part) => lint(part, &below, problems),
            ("additionalProperties", part @ Value::Object(_)) => lint(part, &below, problems),
            _ => {}
        }
    }
}
