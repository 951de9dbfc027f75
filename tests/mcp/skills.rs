//! Skills of the Library by the extension for skills.

use std::thread::sleep;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::client::{Gateway, message};
use super::prompts::{SETTLED, agent, data, refused, seen_by};
use super::sessions::Session;
use super::stream::Stream;
use crate::harness::Team;

const EXTENSION: &str = "io.modelcontextprotocol/skills";

fn skills(agent: &Gateway<'_>) -> Value {
    agent.send("skills/list", json!({}))["result"]["skills"].take()
}

#[test]
fn a_client_lists_gets_and_reads_the_skills_of_its_user() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let discovered = agent.send("server/discover", json!({}));
    assert_eq!(discovered["result"]["capabilities"]["extensions"][EXTENSION], json!({}), "{discovered}");
    let skill =
        json!({"name": "refunds", "description": "Refunds orders: all.", "content": "# Refunds\n\nAsk {{who}}."});
    let id = data(&agent, "skill_create", skill)["skill_id"].clone();
    let listed = skills(&agent);
    let uri = format!("skill://{}/refunds/SKILL.md", id.as_str().expect("an id"));
    let file = "---\nname: \"refunds\"\ndescription: \"Refunds orders: all.\"\n---\n\n# Refunds\n\nAsk {{who}}.";
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(file)));
    let entry = json!({
        "uri": uri,
        "frontmatter": {"name": "refunds", "description": "Refunds orders: all."},
        "resources": [{"uri": uri, "digest": digest, "size": file.len()}],
    });
    assert_eq!(listed, json!([entry]));
    assert_eq!(agent.send("skills/get", json!({"uri": uri}))["result"]["skill"], entry);
    let read = agent.send("resources/read", json!({"uri": uri}))["result"].take();
    assert_eq!(read["contents"], json!([{"uri": uri, "mimeType": "text/markdown", "text": file}]));
    let run = read["_meta"]["dev.lathe/invocationId"].as_str().expect("an id");
    assert_eq!(team.get(&format!("/tool/invocation/{run}"))["native_tool"], "skill_get");
    let session = Session::begin(&agent);
    let result = message(&session.send("resources/read", json!({"uri": uri})))["result"].take();
    assert_eq!(result["contents"], read["contents"], "{result}");

    let bea = team.joined_by("bea", "admin");
    let of_bea = seen_by(&bea, &agent);
    assert_eq!(skills(&of_bea), json!([]));
    for (method, uri) in [
        ("skills/get", uri.replace("refunds", "orders")),
        ("resources/read", uri.replace("refunds", "orders")),
        ("skills/get", "skill://refunds/SKILL.md".to_owned()),
    ] {
        refused(&agent, method, json!({"uri": uri}), -32602);
    }
    refused(&of_bea, "skills/get", json!({"uri": uri}), -32602);
    refused(&of_bea, "resources/read", json!({"uri": uri}), -32602);
}

#[test]
fn an_agent_without_the_family_does_not_have_the_extension() {
    let team = Team::new();
    let tools = Gateway::new(&team, "tools", &[]);
    let discovered = tools.send("server/discover", json!({}));
    assert!(discovered["result"]["capabilities"]["extensions"][EXTENSION].is_null(), "{discovered}");
    refused(&tools, "skills/list", json!({}), -32601);
}

#[test]
fn a_subscription_learns_of_a_changed_skill() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let id = data(&agent, "skill_create", json!({"name": "refunds", "content": "x"}))["skill_id"].clone();
    let uri = skills(&agent)[0]["uri"].take();
    let mut stream =
        Stream::open(&agent, "subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri]}}));
    stream.until("notifications/subscriptions/acknowledged");
    sleep(SETTLED);
    data(&agent, "skill_update", json!({"skill_id": id, "content": "y"}));
    let told = stream.message(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri, "{told}");
}
