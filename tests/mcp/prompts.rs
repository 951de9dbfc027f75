//! Prompts of the Library as prompts of the protocol, and values for their arguments.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Gateway, message};
use super::sessions::Session;
use super::stream::Stream;
use crate::harness::Team;

/// Time in which a new subscription begins to compare.
pub const SETTLED: Duration = Duration::from_millis(500);

/// An agent with the Library.
pub fn agent<'t>(team: &'t Team, slug: &str) -> Gateway<'t> {
    Gateway::of_type(team, slug, "agent").with(&[])
}

/// The data of a call of a tool of the Library.
#[track_caller]
pub fn data(agent: &Gateway<'_>, tool: &str, arguments: Value) -> Value {
    let result = agent.call(tool, arguments);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    result["structuredContent"]["data"].clone()
}

/// The message of a request that is refused with a code.
#[track_caller]
pub fn refused(agent: &Gateway<'_>, method: &str, params: Value, code: i64) -> Value {
    let request = agent.modern(agent.request("POST"), method, params);
    let answer = message(&request.send_message());
    assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    answer["error"]["message"].clone()
}

/// The same agent, for another user.
pub fn seen_by<'t>(team: &'t Team, agent: &Gateway<'_>) -> Gateway<'t> {
    Gateway { team, slug: agent.slug.clone(), id: agent.id.clone() }
}

fn letter() -> Value {
    json!({
        "name": "letter", "description": "Writes a letter.", "type": "system-prompt",
        "content": "Write to {{customer}} in a {{ tone }} tone.{{note}}",
        "variables": [
            {"name": "customer", "description": "The name.", "required": true},
            {"name": "tone", "default_value": "short"},
            {"name": "note"},
        ],
    })
}

#[test]
fn a_client_lists_and_gets_the_prompts_of_its_user() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    data(&agent, "prompt_create", letter());
    let listed = agent.send("prompts/list", json!({}));
    let result = &listed["result"];
    assert_eq!((&result["cacheScope"], &result["nextCursor"]), (&json!("private"), &Value::Null), "{listed}");
    assert!(result["ttlMs"].as_u64().is_some_and(|time| time > 0), "{listed}");
    let arguments = json!([
        {"name": "customer", "description": "The name.", "required": true},
        {"name": "note", "required": false},
        {"name": "tone", "required": false},
    ]);
    let shown = json!([{"name": "letter", "description": "Writes a letter.", "arguments": arguments}]);
    assert_eq!(result["prompts"], shown);

    let got = agent.send("prompts/get", json!({"name": "letter", "arguments": {"customer": "Ada"}}));
    let content = json!({"type": "text", "text": "Write to Ada in a short tone."});
    assert_eq!(got["result"]["messages"], json!([{"role": "user", "content": content}]), "{got}");
    assert_eq!(got["result"]["description"], "Writes a letter.");
    let run = got["result"]["_meta"]["dev.lathe/invocationId"].as_str().expect("an id");
    let record = team.get(&format!("/tool/invocation/{run}"));
    assert_eq!((&record["native_tool"], &record["origin"]), (&json!("prompt_get"), &json!("mcp")), "{record}");

    let session = Session::begin(&agent);
    assert_eq!(message(&session.send("prompts/list", json!({})))["result"]["prompts"], shown);
    let params = json!({"name": "letter", "arguments": {"customer": "Ada", "tone": "long", "note": " Soon."}});
    let got = message(&session.send("prompts/get", params));
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "Write to Ada in a long tone. Soon.", "{got}");
}

#[test]
fn what_is_missing_is_named() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    data(&agent, "prompt_create", letter());
    let get = |params: Value| refused(&agent, "prompts/get", params, -32602);
    assert_eq!(get(json!({"name": "poem"})), "Unknown prompt: poem");
    assert_eq!(get(json!({"name": "letter"})), "The argument customer is missing.");
    let wrong = json!({"name": "letter", "arguments": {"customer": "Ada", "tone": 1}});
    assert_eq!(get(wrong), "The argument tone should be a string.");
}

#[test]
fn a_prompt_that_its_arguments_would_make_too_large_is_refused() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    data(&agent, "prompt_create", json!({"name": "echo", "content": "{{x}}".repeat(26_000)}));
    // Filled, it would have 26 GB.
    let params = |bytes: usize| json!({"name": "echo", "arguments": {"x": "v".repeat(bytes)}});
    let request = agent.modern(agent.request("POST"), "prompts/get", params(1_000_000));
    let answer = message(&request.send_message());
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["type"]),
        (&json!(-32602), &json!("prompt_too_large"))
    );
    let session = Session::begin(&agent);
    let told = message(&session.send("prompts/get", params(1_000_000)))["error"]["message"].clone();
    assert!(told.as_str().is_some_and(|text| text.contains("26000000000 bytes")), "{told}");
    refused(&agent, "prompts/get", params(41), -32602);
    let got = agent.send("prompts/get", params(40));
    let text = got["result"]["messages"][0]["content"]["text"].as_str().map(str::len);
    assert_eq!(text, Some(1_040_000));
}

#[test]
fn a_user_sees_no_prompts_of_others() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    data(&agent, "prompt_create", letter());
    let bea = team.joined_by("bea", "admin");
    let of_bea = seen_by(&bea, &agent);
    assert_eq!(of_bea.send("prompts/list", json!({}))["result"]["prompts"], json!([]));
    let get = json!({"name": "letter", "arguments": {"customer": "Ada"}});
    assert_eq!(refused(&of_bea, "prompts/get", get, -32602), "Unknown prompt: letter");
}

#[test]
fn an_agent_without_the_families_serves_tools_only() {
    let team = Team::new();
    let capabilities = |agent: &Gateway<'_>| agent.send("server/discover", json!({}))["result"]["capabilities"].take();
    let (gateway, agent) = (Gateway::new(&team, "tools", &[]), agent(&team, "desk"));
    let all = capabilities(&agent);
    assert_eq!(all["prompts"], json!({"listChanged": true}), "{all}");
    assert_eq!(all["resources"], json!({"listChanged": true, "subscribe": true}), "{all}");
    assert_eq!(all["completions"], json!({}), "{all}");
    let few = capabilities(&gateway);
    assert!(["prompts", "resources", "completions"].iter().all(|name| few[name].is_null()), "{few}");
    let reference = json!({"type": "ref/prompt", "name": "letter"});
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "letter"})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "artifact://6b087fb88c8b71fedaf8732b"})),
        ("completion/complete", json!({"ref": reference, "argument": {"name": "x", "value": ""}})),
    ] {
        refused(&gateway, method, params, -32601);
    }
    team.post(&format!("/agent/{}", agent.id), &json!({"builtInTools": {"disabled": ["prompts"]}})).expect(204);
    team.post(&format!("/agent/{}/deploy", agent.id), &json!({})).expect(200);
    let rest = capabilities(&agent);
    assert!(rest["prompts"].is_null() && rest["resources"].is_object(), "{rest}");
    refused(&agent, "prompts/list", json!({}), -32601);
}

#[test]
fn a_cursor_belongs_to_one_list() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let create = |number: u32| data(&agent, "prompt_create", json!({"name": format!("p{number:03}"), "content": "x"}));
    (0..101).for_each(|number| drop(create(number)));
    let page = |params: Value| agent.send("prompts/list", params)["result"].take();
    let first = page(json!({}));
    let cursor = first["nextCursor"].clone();
    let names = |page: &Value| -> Vec<String> {
        let prompts = page["prompts"].as_array().expect("prompts").iter();
        prompts.map(|prompt| prompt["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!((names(&first).len(), names(&first)[0].as_str()), (100, "p100"));
    let second = page(json!({"cursor": cursor}));
    assert_eq!((names(&second), &second["nextCursor"]), (vec!["p000".to_owned()], &Value::Null));
    let bea = team.joined_by("bea", "admin");
    for (agent, method) in [(&seen_by(&bea, &agent), "prompts/list"), (&agent, "resources/list")] {
        refused(agent, method, json!({"cursor": cursor}), -32602);
    }
    create(101);
    refused(&agent, "prompts/list", json!({"cursor": cursor}), -32602);
}

#[test]
fn defaults_of_arguments_are_proposed() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    data(&agent, "prompt_create", letter());
    let params = |prompt: &str, argument: &str, value: &str| {
        let reference = json!({"type": "ref/prompt", "name": prompt});
        json!({"ref": reference, "argument": {"name": argument, "value": value}})
    };
    let none = json!([]);
    for (argument, value, expected) in [("tone", "sh", &json!(["short"])), ("tone", "x", &none), ("note", "", &none)] {
        let completed = agent.send("completion/complete", params("letter", argument, value));
        let total = expected.as_array().expect("a list").len();
        let completion = json!({"values": expected, "total": total, "hasMore": false});
        assert_eq!(completed["result"]["completion"], completion, "{argument}: {completed}");
    }
    for (prompt, argument) in [("poem", "tone"), ("letter", "color")] {
        refused(&agent, "completion/complete", params(prompt, argument, ""), -32602);
    }
}

#[test]
fn a_subscription_learns_of_new_and_changed_prompts() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let params = json!({"notifications": {"promptsListChanged": true}});
    let mut stream = Stream::open(&agent, "subscriptions/listen", params);
    stream.until("notifications/subscriptions/acknowledged");
    sleep(SETTLED);
    let id = data(&agent, "prompt_create", letter())["prompt_id"].clone();
    stream.until("notifications/prompts/list_changed");
    data(&agent, "prompt_update", json!({"prompt_id": id, "description": "Writes to a customer."}));
    stream.until("notifications/prompts/list_changed");
}
