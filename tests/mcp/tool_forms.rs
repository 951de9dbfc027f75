//! Published tools as prompts and resources of the protocol, and questions before a task.

use std::thread::sleep;

use serde_json::{Value, json};

use super::client::{Gateway, message, of_text};
use super::prompts::{SETTLED, refused};
use super::questions::asking;
use super::sessions::Session;
use super::stream::Stream;
use crate::harness::{Bump, Team};

const CONTENT: &str = "from amigo_tool_scaffold import content";

/// A gateway whose tools are a prompt of a text, and a resource for each text.
fn review(team: &Team) -> Gateway<'_> {
    let body = format!("{CONTENT}\ncontent.add_image(b'PNG', 'image/png')\nreturn f\"Review {{tool_input['text']}}.\"");
    of_text(team.tool("review").body(&body)).manifest("mcp = { prompt = true }").published();
    let body = format!("{CONTENT}\nreturn {{'text': tool_input['text']}}");
    of_text(team.tool("report").body(&body)).manifest("mcp = { resource = 'report://{text}/sales' }").published();
    team.tool("logo")
        .body(&format!("{CONTENT}\ncontent.add_image(b'PNG', 'image/png')\nreturn ''"))
        .manifest("mcp = { resource = 'report://logo' }")
        .published();
    Gateway::new(team, "desk", &["review", "report", "logo"])
}

#[test]
fn a_tool_is_a_prompt_whose_messages_are_its_content() {
    let team = Team::new();
    let desk = review(&team);
    let listed = desk.send("prompts/list", json!({}));
    let prompts = listed["result"]["prompts"].as_array().unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(prompts.len(), 1, "{listed}");
    assert_eq!(prompts[0]["name"], "review");
    assert_eq!(prompts[0]["arguments"], json!([{"name": "text", "required": true}]));
    let got = desk.send("prompts/get", json!({"name": "review", "arguments": {"text": "it"}}))["result"].take();
    let messages = json!([
        {"role": "user", "content": {"type": "text", "text": "Review it."}},
        {"role": "user", "content": {"type": "image", "data": "UE5H", "mimeType": "image/png"}},
    ]);
    assert_eq!(got["messages"], messages, "{got}");
    let run = got["_meta"]["dev.lathe/invocationId"].as_str().expect("an id");
    let record = team.get(&format!("/tool/invocation/{run}"));
    assert_eq!((&record["origin"], &record["inputs"]), (&json!("mcp"), &json!({"text": "it"})), "{record}");
    for (method, params) in [
        ("prompts/get", json!({"name": "review"})),
        ("prompts/get", json!({"name": "report", "arguments": {"text": "x"}})),
        ("resources/read", json!({"uri": "report://a/b/sales"})),
    ] {
        refused(&desk, method, params, -32602);
    }
}

#[test]
fn a_tool_reads_a_resource_by_its_uri() {
    let team = Team::new();
    let desk = review(&team);
    let listed = desk.send("resources/list", json!({}));
    let uris: Vec<_> =
        listed["result"]["resources"].as_array().expect("a list").iter().map(|one| &one["uri"]).collect();
    assert_eq!(json!(uris), json!(["report://logo"]), "{listed}");
    let templates = desk.send("resources/templates/list", json!({}))["result"]["resourceTemplates"].take();
    assert_eq!((&templates[0]["uriTemplate"], &templates[1]), (&json!("report://{text}/sales"), &Value::Null));
    let read = |uri: &str| desk.send("resources/read", json!({"uri": uri}))["result"]["contents"].take();
    let uri = "report://S%C3%A4le/sales";
    let contents = json!([{"uri": uri, "mimeType": "application/json", "text": "{\"text\":\"Säle\"}"}]);
    assert_eq!(read(uri), contents);
    let contents = json!([{"uri": "report://logo", "mimeType": "image/png", "blob": "UE5H"}]);
    assert_eq!(read("report://logo"), contents);
    let session = Session::begin(&desk);
    let result = message(&session.send("resources/read", json!({"uri": "report://logo"})))["result"].take();
    assert_eq!(result["contents"], contents, "{result}");
}

#[test]
fn an_agent_without_prompts_and_resources_does_not_have_their_methods() {
    let team = Team::new();
    team.tool("plain").published();
    let desk = Gateway::new(&team, "desk", &["plain"]);
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        refused(&desk, method, json!({}), -32601);
    }
    refused(&desk, "resources/read", json!({"uri": "report://logo"}), -32601);
}

#[test]
fn a_prompt_may_ask_first() {
    let team = Team::new();
    let body = "answer = await request_input('who', Form('Who?', {'name': {'type': 'string'}}, ['name']))\n\
        return f\"Greet {answer.content['name']}.\"";
    asking(&team, "greet", body).manifest("mcp = { prompt = true }").published();
    let desk = Gateway::new(&team, "desk", &["greet"]);
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let asked = desk.send("prompts/get", json!({"name": "greet", "_meta": meta}))["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let answers = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    let params =
        json!({"name": "greet", "_meta": meta, "inputResponses": answers, "requestState": asked["requestState"]});
    let got = desk.send("prompts/get", params)["result"].take();
    assert_eq!(got["messages"][0]["content"]["text"], "Greet Ada.", "{got}");
}

#[test]
fn a_subscription_learns_of_a_new_version_of_its_resource() {
    let team = Team::new();
    let tool = team.tool("logo").body("return 1").manifest("mcp = { resource = 'report://logo' }").published();
    let other = team.tool("other").body("return 1").manifest("mcp = { resource = 'report://other' }").published();
    let desk = Gateway::new(&team, "desk", &["logo", "other"]);
    let params = json!({"notifications": {"resourceSubscriptions": ["report://logo"]}});
    let mut stream = Stream::open(&desk, "subscriptions/listen", params);
    stream.until("notifications/subscriptions/acknowledged");
    sleep(SETTLED);
    other.body("return 2").pushed().publish(Bump::Minor).expect(201);
    tool.body("return 2").pushed().publish(Bump::Minor).expect(201);
    let told = stream.message(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "report://logo", "{told}");
}

#[test]
fn a_session_subscribes_to_resources_that_are_there() {
    let team = Team::new();
    let desk = review(&team);
    let session = Session::begin(&desk);
    let send = |method: &str, uri: &str| message(&session.send(method, json!({"uri": uri})));
    assert_eq!(send("resources/subscribe", "report://logo")["result"], json!({}));
    assert_eq!(send("resources/subscribe", "report://x/sales")["result"], json!({}));
    assert_eq!(send("resources/subscribe", "report://nowhere")["error"]["code"], -32002);
    assert_eq!(send("resources/unsubscribe", "report://logo")["result"], json!({}));
    for number in 0..99 {
        assert_eq!(send("resources/subscribe", &format!("report://{number}/sales"))["result"], json!({}), "{number}");
    }
    assert_eq!(send("resources/subscribe", "report://logo")["error"]["code"], -32602);
}
