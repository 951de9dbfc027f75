//! Publications whose bump is too small for the change.

use serde_json::{Value, json};

use crate::harness::{Bump, Team, Tool};

fn with_schema<'t>(tool: Tool<'t>, properties: &Value) -> Tool<'t> {
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    tool.with_file("in.json", &schema.to_string()).pushed()
}

fn published(tool: &Tool<'_>, bump: Bump) -> String {
    tool.publish(bump).expect(201)["new_version"].as_str().expect("a version").to_owned()
}

#[test]
fn a_bump_that_is_too_small_is_refused_with_the_reasons() {
    let team = Team::new();
    let tool = team.tool("grows").manifest("input_schema = 'in.json'");
    let tool = with_schema(tool, &json!({"name": {"type": "string"}, "count": {"type": "integer"}}));
    assert_eq!(published(&tool, Bump::Auto), "1.0.0");

    let tool = with_schema(tool, &json!({"name": {"type": "string"}, "count": {"type": "integer", "maximum": 9}}));
    for bump in [Bump::Patch, Bump::Minor] {
        let refused = tool.publish(bump);
        assert_eq!((refused.status, refused.code()), (400, "build_failed".into()), "{refused}");
        let detail = refused.detail();
        assert!(detail.contains("`count` accepts less than before: `maximum` 9"), "{detail}");
        assert!(detail.contains("Publish it as major, or with bump auto"), "{detail}");
    }
    assert_eq!(published(&tool, Bump::Auto), "2.0.0");

    let wider = json!({"name": {"type": "string"}, "count": {"type": "integer", "maximum": 99}, "more": {}});
    let tool = with_schema(tool, &wider);
    let refused = tool.publish(Bump::Patch).detail();
    for reason in ["new optional input `more`", "`count` accepts more than before: `maximum` was 9"] {
        assert!(refused.contains(reason), "{refused}");
    }
    assert_eq!(published(&tool, Bump::Auto), "2.1.0");

    let tool = tool.body("return 'another body, the same face'").pushed();
    assert_eq!(published(&tool, Bump::Auto), "2.1.1");
    let tool = tool.body("return 'and another'").pushed();
    assert_eq!(published(&tool, Bump::Major), "3.0.0", "more than is needed is no fault");
}

#[test]
fn variables_and_hosts_are_part_of_what_callers_see() {
    let team = Team::new();
    let tool = team.tool("reaches").published();
    let tool = tool.manifest("allowed_hosts = ['api.example.com']").pushed();
    let refused = tool.publish(Bump::Patch);
    assert!(refused.detail().contains("a new host: api.example.com"), "{refused}");
    assert_eq!(published(&tool, Bump::Minor), "1.1.0");

    tool.set_variables(&[("REGION", "north", false)]);
    let tool = tool.manifest("required_envvars = ['REGION']").pushed();
    let refused = tool.publish(Bump::Minor);
    assert!(refused.detail().contains("the variable REGION must be set now"), "{refused}");
    let log = team.get(&format!("/tool/{}/build/{}", tool.id(), refused.json()["build_id"].as_str().unwrap_or("")));
    assert!(log.to_string().contains("since 1.1.0, major: the variable REGION must be set now"), "{log}");
    assert_eq!(published(&tool, Bump::Auto), "2.0.0");
}
