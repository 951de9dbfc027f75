//! Values that JSON would drop or change: each is refused with its place, or written as a reader expects.

use serde_json::{Value, json};

use super::{server, typescript};
use crate::harness::{Options, Run, Team};

/// Evaluates an expression, and sends its value on one of the ways out of the tool.
const BODY: &str = "
  const value = (0, eval)(`(${toolInput.value})`);
  const ways: Record<string, () => unknown> = {
    result: () => value,
    event: () => sendStatusEvent('x', { data: value }),
    log: () => log('info', value),
    call: () => callTool('other', { value }),
    question: () => interaction.requestInput('q', { kind: 'form', message: 'x', properties: { value } }),
    text: () => content.addText(value),
  };
  const done = await ways[toolInput.way ?? 'result']!();
  return toolInput.way ? 'sent' : done;
";

fn evaluated(tool: &crate::harness::Tool<'_>, way: Option<&str>, value: &str) -> Run {
    tool.invoke(json!({"value": value, "way": way}))
}

#[test]
fn what_json_would_change_is_refused_with_its_place() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = typescript(&team, "values", &json!({}), "", BODY).published();
    for (value, words) in [
        ("{a: [1, NaN]}", "result.a[1] (number): NaN is not a JSON number"),
        ("-Infinity", "result (number): -Infinity is not a JSON number"),
        ("{m: new Map([[1, 2]])}", "result.m (Map): JSON has no Map: return Object.fromEntries(value)"),
        ("[new Set([1])]", "result[0] (Set): JSON has no Set"),
        ("{a: {b() {}}}", "result.a.b (function): JSON has no function"),
        ("{a: Symbol('x')}", "result.a (symbol)"),
        ("{[Symbol('x')]: 1}", "the key Symbol(x)"),
        ("[1, undefined]", "result[1] (undefined)"),
        ("[1, , 2]", "result[1] (undefined)"),
        ("{a: 1n}", "result.a (bigint): JSON has no BigInt"),
        ("{a: new Date(NaN)}", "result.a (Date): the date is invalid"),
        ("{a: new Uint8Array(2)}", "result.a (Uint8Array)"),
        ("{a: new ArrayBuffer(2)}", "result.a (ArrayBuffer)"),
        ("{a: 'x\\ud800'}", "result.a (string): it has a lone surrogate"),
        ("'x\\udc00'", "result (string): it has a lone surrogate"),
        ("{'\\ud800': 1}", "its name has a lone surrogate"),
        ("{a: Promise.resolve(1)}", "result.a (Promise): JSON has no Promise: await it"),
        ("{a: new Error('x')}", "result.a (Error)"),
        ("/x/", "result (RegExp)"),
        ("'a1'.match(/[0-9]/)", "result (Array): JSON has no list with the property index"),
        ("(() => { const a = {}; a.b = [a]; return a; })()", "result.b[0] (Object): it contains itself"),
        ("new (class { #x = 1 })()", "it has no properties of its own"),
        ("Object.create({a: 1})", "it inherits a"),
        ("{a: {toJSON() {}}}", "result.a (Object): its toJSON returns undefined"),
        ("{a: {toJSON: () => NaN}}", "result.a (number): NaN"),
    ] {
        let failure = evaluated(&tool, None, value).failure();
        assert_eq!(failure.kind, "UnserialisableResult", "{value}: {failure:?}");
        assert!(failure.message.starts_with("the result cannot be returned: "), "{value}: {failure:?}");
        assert!(failure.message.contains(words), "{value}: {failure:?}");
    }
    for (value, written) in [
        ("{a: undefined, b: 1}", json!({"b": 1})),
        ("{a: new Date(0)}", json!({"a": "1970-01-01T00:00:00.000Z"})),
        ("[new Number(1), new String('x'), new Boolean(false)]", json!([1, "x", false])),
        ("new (class { x = 1; get y() { return 2; } })()", json!({"x": 1})),
        ("{a: {toJSON: (key) => [key]}}", json!({"a": ["a"]})),
        ("JSON.parse('{\"__proto__\": 1}')", json!({"__proto__": 1})),
        ("{a: 'x\\u{1f600}'}", json!({"a": "x😀"})),
        ("Object.create(null)", json!({})),
    ] {
        assert_eq!(evaluated(&tool, None, value).json(), written, "{value}");
    }
}

#[test]
fn other_ways_out_of_a_tool_have_the_same_rules() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = typescript(&team, "ways", &json!({}), "", BODY).published();
    for (way, words) in [
        ("event", "sendStatusEvent: the event cannot be sent: event.data.a[0] (number): NaN is not a JSON number"),
        ("log", "log: the data cannot be sent: data.a[0] (number)"),
        ("call", "callTool: the input cannot be sent: input.value.a[0] (number)"),
        (
            "question",
            "interaction: the question cannot be asked: question.params.requestedSchema.properties.value.a[0] (number)",
        ),
    ] {
        let failure = evaluated(&tool, Some(way), "{a: [NaN]}").failure();
        assert!(failure.kind == "TypeError" && failure.message.starts_with(words), "{way}: {failure:?}");
    }
    let failure = evaluated(&tool, Some("text"), "'x\\ud800'").failure();
    assert!(failure.message.contains("content: text has a lone surrogate"), "{failure:?}");
    let whole = evaluated(&tool, Some("log"), "{a: [1, null, undefined].slice(0, 2)}");
    assert_eq!(whole.output(), "sent");
}

#[test]
fn an_integer_that_javascript_would_round_is_refused() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = typescript(&team, "exact", &json!({}), "", "return toolInput;").published();
    let exact = r#"{"a": [9007199254740992, -9007199254740991, 1e20, 1.5], "9007199254740993": "9007199254740993"}"#;
    let exact: Value = serde_json::from_str(exact).expect("JSON");
    assert_eq!(tool.invoke(exact.clone()).json()["9007199254740993"], exact["9007199254740993"]);
    for (input, place) in [
        (json!({"a": [{"id": 9_007_199_254_740_993_u64}]}), "toolInput.a[0].id: 9007199254740993"),
        (json!({"n": u64::MAX}), "toolInput.n: "),
    ] {
        let failure = tool.invoke(input).failure();
        assert_eq!(failure.kind, "InputNotExact", "{failure:?}");
        assert!(failure.message.starts_with(place), "{failure:?}");
    }
}
