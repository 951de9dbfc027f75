//! Inputs: types that authors annotate, and inputs that violate them.

use serde_json::{Value, json};

use crate::harness::{Bump, Team, Tool, input, unindented};

const DATACLASS: &str = "
    from dataclasses import dataclass
    from typing import Literal

    @dataclass
    class Line:
        item: str
        count: int = 1

    @dataclass
    class Order:
        lines: list[Line]
        speed: Literal['slow', 'fast'] = 'slow'

    async def run_tool(tool_input: Order, metadata, config, conversation, send_status_event, user_variables):
        return [type(tool_input).__name__, tool_input.speed, *(f'{line.item} {line.count}' for line in tool_input.lines)]
";

const TYPED_DICT: &str = "
    from typing import NotRequired, TypedDict

    class Place(TypedDict):
        city: str
        country: NotRequired[str]

    async def run_tool(tool_input: Place, metadata, config, conversation, send_status_event, user_variables):
        return [tool_input['city'], tool_input.get('country')]
";

const POSTPONED: &str = "
    from __future__ import annotations
    from dataclasses import dataclass

    @dataclass
    class Order:
        item: str

    def run_tool(tool_input: Order, metadata, config, conversation, send_status_event, user_variables):
        return [type(tool_input).__name__, tool_input.item]
";

const TYPES_ONLY: &str = "
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from amigo_tool_scaffold.metadata import Metadata

    def run_tool(tool_input, metadata: Metadata, config, conversation, send_status_event, user_variables):
        return [type(tool_input).__name__, type(metadata).__name__]
";

const DICT: &str = "
    async def run_tool(tool_input: dict, metadata, config, conversation, send_status_event, user_variables):
        return tool_input
";

fn tool<'t>(team: &'t Team, name: &str, source: &str) -> Tool<'t> {
    team.tool(name).with_file("tool.py", &unindented(source)).published()
}

#[test]
fn a_dataclass_a_typed_dict_and_a_dict() {
    let team = Team::new();
    let order = tool(&team, "orders", DATACLASS);
    let run = order.invoke(json!({"lines": [{"item": "tea", "count": 2}, {"item": "milk"}]}));
    assert_eq!(run.json(), json!(["Order", "slow", "tea 2", "milk 1"]));
    let schema = team.get(&format!("/tool/{}/version/1.0.0", order.id()))["input_schema"].clone();
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["lines"]), &json!(false)));
    let place = tool(&team, "places", TYPED_DICT);
    assert_eq!(place.invoke(json!({"city": "Rome"})).json(), json!(["Rome", null]));
    let postponed = tool(&team, "postponed", POSTPONED);
    assert_eq!(postponed.invoke(json!({"item": "tea"})).json(), json!(["Order", "tea"]));
    let types_only = tool(&team, "types_only", TYPES_ONLY);
    assert_eq!(types_only.invoke(json!({})).json(), json!(["dict", "Metadata"]));
    let open = tool(&team, "open", DICT);
    let anything = json!({"a": [1, 2.5, null, {"b": "é😀\u{0}"}], "": true});
    assert_eq!(open.invoke(anything.clone()).json(), anything);
}

#[test]
fn numbers_and_depth_survive() {
    let team = Team::new();
    let open = tool(&team, "open", DICT);
    let numbers = json!({"large": u64::MAX, "small": i64::MIN, "float": 0.1, "tiny": 5e-324, "zero": -0.0});
    assert_eq!(open.invoke(numbers.clone()).json(), numbers);
    let deep = (0..60).fold(json!(1), |inner, _| json!({"x": inner}));
    assert_eq!(open.invoke(deep.clone()).json(), deep);
    // Deeper than the limit: refused, and nothing breaks.
    let deeper = format!("{{\"x\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let text = json!({"inputs": [input(&json!({}))]}).to_string().replace("{}", &deeper);
    let path = format!("/tool/{}/version/1.0.0/invoke", open.id());
    let answer = team.request("POST", &path).body(text).send();
    assert!([400, 422].contains(&answer.status), "{answer}");
}

#[test]
fn an_own_schema_file_is_the_contract() {
    let team = Team::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}, "required": ["n"]});
    let own = team.tool("own").with_file("in.json", &schema.to_string()).manifest("input_schema = 'in.json'");
    let own = own.body("return tool_input['n'] * 2").published();
    assert_eq!(own.invoke(json!({"n": 3})).output(), "6");
    assert_eq!(team.get(&format!("/tool/{}/version/1.0.0", own.id()))["input_schema"], schema);
    own.invoke_request(&json!({"inputs": [input(&json!({"n": 4}))]})).send().expect(400);
}

/// Each level of the input doubles the ways, and matching takes each of them once.
#[test]
fn a_recursive_schema_costs_what_matching_does() {
    let team = Team::new();
    let twice = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
    let schema = json!({"type": "object", "properties": {"a": twice}}).to_string();
    let own = team.tool("own").with_file("in.json", &schema).manifest("input_schema = 'in.json'");
    let own = own.body("return 'matched'").published();
    let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(own.invoke(deep(5)).output(), "matched");
    assert_eq!(own.invoke(deep(60)).output(), "matched");
    let nested = (0..40).fold(json!({}), |inner, _| json!({"anyOf": [inner], "unevaluatedProperties": false}));
    let refused = own.with_file("in.json", &nested.to_string()).body("return 2").pushed().publish(Bump::Minor);
    assert!(refused.status == 400 && refused.detail().contains("unevaluatedProperties is not supported"), "{refused}");
}

#[test]
fn an_input_that_would_take_too_long_is_not_matched() {
    let team = Team::new();
    let wide = json!({"enum": (0..2_000).collect::<Vec<_>>()});
    let schema = json!({"type": "object", "properties": {"a": {"items": wide}}}).to_string();
    let own = team.tool("wide").with_file("in.json", &schema).manifest("input_schema = 'in.json'");
    let own = own.body("return 'matched'").published();
    assert_eq!(own.invoke(json!({"a": [1, 2]})).output(), "matched");
    let answer = own.invoke_request(&json!({"inputs": [input(&json!({"a": vec![1; 60_000]}))]})).send();
    answer.expect(400);
    assert!(answer.detail().contains("too large or too deeply nested"), "{answer}");
}

#[test]
fn an_integer_is_one_whatever_its_spelling() {
    let team = Team::new();
    let count = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {
        "count": count, "share": {"type": "number"}, "list": {"type": "array", "items": count},
        "map": {"type": "object", "additionalProperties": count}, "maybe": {"anyOf": [count, {"type": "null"}]},
    }});
    let own = team.tool("own").with_file("in.json", &schema.to_string()).manifest("input_schema = 'in.json'");
    let own = own.body("return repr(tool_input)").published();
    let body = |parameters: &str| json!({"inputs": [input(&json!({}))]}).to_string().replacen("{}", parameters, 1);
    let run = |parameters: &str| {
        let path = format!("/tool/{}/version/1.0.0/invoke", own.id());
        let answer = team.request("POST", &path).body(body(parameters)).send().expect(200);
        answer["invocation_results"][0].clone()
    };
    let given = r#"{"count": 1.0, "share": 1.0, "list": [1e2, 2], "map": {"a": -0.0}, "maybe": 3.0E0}"#;
    let result = crate::harness::Run(run(given));
    assert_eq!(result.output(), "{'count': 1, 'list': [100, 2], 'map': {'a': 0}, 'maybe': 3, 'share': 1.0}");
    let recorded = &team.get(&format!("/tool/invocation/{}", result.id()))["inputs"];
    assert_eq!(recorded["count"].to_string(), "1", "{recorded}");
    let path = format!("/tool/{}/version/1.0.0/invoke", own.id());
    team.request("POST", &path).body(body(r#"{"count": 1.5}"#)).send().expect(400);
}

#[test]
fn a_type_of_integers_has_its_bounds() {
    let team = Team::new();
    let port = json!({"type": "integer", "format": "uint16"});
    let schema = json!({"type": "object", "properties": {
        "port": port, "list": {"items": port}, "wide": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
    }});
    let own = team.tool("own").with_file("in.json", &schema.to_string()).manifest("input_schema = 'in.json'");
    let own = own.body("return 'fits'").published();
    let listed = &team.get(&format!("/tool/{}/version/1.0.0", own.id()))["input_schema"]["properties"];
    assert_eq!((&listed["port"]["minimum"], &listed["port"]["maximum"]), (&json!(0), &json!(65_535)), "{listed}");
    assert_eq!(listed["wide"]["maximum"], u32::MAX, "{listed}");
    for (parameters, status) in [
        (json!({"port": 65_535, "wide": u32::MAX, "list": [0]}), 200),
        (json!({"port": 65_536}), 400),
        (json!({"port": -1}), 400),
        (json!({"list": [1, 70_000]}), 400),
        (json!({"wide": 4_294_967_296_u64}), 400),
    ] {
        own.invoke_request(&json!({"inputs": [input(&parameters)]})).send().expect(status);
    }
}

#[test]
fn one_invalid_input_refuses_the_call_and_nothing_is_recorded() {
    let team = Team::new();
    let order = tool(&team, "orders", DATACLASS);
    let good = input(&json!({"lines": []}));
    let check = |bad: Value, words: &[&str]| {
        let answer = order.invoke_request(&json!({"inputs": [good, input(&bad), good]})).send();
        answer.expect(400);
        assert_eq!(answer.code(), "input_schema");
        for word in [&["1"], words].concat() {
            assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
        }
    };
    check(json!({}), &["lines"]);
    check(json!({"lines": "tea"}), &["/lines"]);
    check(json!({"lines": [{"item": "tea", "count": "two"}]}), &["/lines/0/count"]);
    check(json!({"lines": [], "speed": "warp"}), &["/speed"]);
    check(json!({"lines": [], "extra": 1}), &["extra"]);
    assert_eq!(team.history().len(), 0, "nothing ran, so nothing is recorded");
}

#[test]
fn invalid_calls_are_refused_before_anything_runs() {
    let team = Team::new();
    let open = tool(&team, "open", DICT);
    let good = input(&json!({}));
    let refused = |body: &Value| {
        open.invoke_request(body).send().expect(422);
    };
    refused(&json!({"inputs": vec![good.clone(); 11]}));
    refused(&json!({"inputs": []}));
    refused(&json!({}));
    refused(&json!([]));
    refused(&json!({"inputs": [good], "result_persistence": "perhaps"}));
    for (field, value) in [
        ("invocation_mode", json!("dry-run")),
        ("input_parameters", json!([])),
        ("nonsensitive_user_variables", json!({"Bad Name": "x"})),
        ("sensitive_user_variables", json!({"name": 3})),
        (
            "sensitive_user_variables",
            (0..21).map(|n| (format!("name{n}"), json!(""))).collect::<serde_json::Map<_, _>>().into(),
        ),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        refused(&json!({"inputs": [bad]}));
        let mut without = good.clone();
        without.as_object_mut().expect("an object").remove(field);
        refused(&json!({"inputs": [without]}));
    }
    let path = format!("/tool/{}/version/1.0.0/invoke", open.id());
    for body in ["", "{", "null", "\"inputs\"", "{\"inputs\": [}"] {
        assert!([400, 422].contains(&team.request("POST", &path).body(body).send().status), "{body}");
    }
    team.post(&format!("/tool/{}/version/9.9.9/invoke", open.id()), &json!({"inputs": [good]})).expect(404);
    team.post(&format!("/tool/{}/version/1.0.0/invoke", "0".repeat(24)), &json!({"inputs": [good]})).expect(404);
    assert_eq!(team.history().len(), 0);
}
