//! Outputs are checked against the output schema of their version.

use serde_json::{Value, json};

use crate::harness::{Bump, Team, Tool};

fn with_schema<'t>(tool: Tool<'t>, schema: &Value) -> Tool<'t> {
    tool.manifest("output_schema = 'out.json'").with_file("out.json", &schema.to_string())
}

#[test]
fn an_output_that_violates_its_schema_fails_the_run() {
    let team = Team::new();
    let schema = json!({
        "type": "object", "required": ["total"], "additionalProperties": false,
        "properties": {"total": {"type": "integer", "minimum": 0}},
    });
    let tool = with_schema(team.tool("adds"), &schema).body("return {'total': sum(tool_input['numbers'])}").published();
    assert_eq!(tool.invoke(json!({"numbers": [1, 2]})).json(), json!({"total": 3}));
    let run = tool.invoke(json!({"numbers": [1, -2]}));
    let failure = run.failure();
    assert_eq!(failure.kind, "output_schema");
    assert!(failure.message.contains("/total: "), "{failure:?}");
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert!(record.to_string().contains("output_schema"), "{record}");
    let replayed = team.post(&format!("/tool/invocation/{}/replay", run.id()), &json!({})).expect(200);
    assert_eq!(replayed["identical"], true, "{replayed}");
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert_eq!(version["settings"]["output_schema"], schema);
}

#[test]
fn the_gate_compares_output_schemas() {
    let team = Team::new();
    let number = |maximum: u8| json!({"type": "integer", "minimum": 0, "maximum": maximum});
    let publish = |tool: &Tool<'_>, bump| tool.publish(bump);
    let tool = team.tool("counts").body("return 1").published();
    let tool = with_schema(tool, &number(9)).pushed();
    assert!(publish(&tool, Bump::Patch).detail().contains("outputs are described now"));
    assert_eq!(publish(&tool, Bump::Auto).expect(201)["new_version"], "1.1.0");
    let tool = tool.with_file("out.json", &number(99).to_string()).pushed();
    let refused = publish(&tool, Bump::Minor).detail();
    assert!(refused.contains("outputs may have values that they could not have before"), "{refused}");
    assert_eq!(publish(&tool, Bump::Auto).expect(201)["new_version"], "2.0.0");
}

#[test]
fn an_invalid_schema_is_refused_with_its_file() {
    let team = Team::new();
    let tool = with_schema(team.tool("wrong"), &json!([])).pushed();
    let refused = tool.publish(Bump::Minor).detail();
    assert!(refused.contains("manifest failed (output-schema): out.json: "), "{refused}");
    let tool = tool.without_file("out.json").pushed();
    assert!(tool.publish(Bump::Minor).detail().contains("out.json: the file is missing"));
}
