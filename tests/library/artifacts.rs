//! Artifacts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::agent::{Agent, rows};

fn artifact(fields: Value) -> Value {
    let mut artifact =
        json!({"title": "Sales", "artifact_type": "report", "content": "# Sales", "content_type": "text/markdown"});
    artifact.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    artifact
}

#[track_caller]
fn requires(agent: &Agent, field: &str) {
    let mut artifact = artifact(json!({}));
    artifact.as_object_mut().expect("an object").remove(field);
    assert_eq!(agent.refused("artifact_save", artifact), ("input_schema".into(), 400));
}

#[track_caller]
fn keeps(agent: &Agent, field: &str, value: Value) {
    let id = agent.data("artifact_save", artifact(json!({field: value})))["artifact_id"].clone();
    assert_eq!(agent.data("artifact_get", json!({"artifact_id": id}))[field], value);
}

rows! {
    s0_091_artifact_save_title: |agent| requires(agent, "title");
    s0_092_artifact_save_type: |agent| {
        requires(agent, "artifact_type");
        for of_type in ["report", "dashboard", "plan"] {
            keeps(agent, "artifact_type", json!(of_type));
        }
    };
    s0_093_artifact_save_content: |agent| {
        requires(agent, "content");
        keeps(agent, "content", json!("x".repeat(300_000)));
        let too_long = artifact(json!({"content": "x".repeat(790_000)}));
        assert_eq!(agent.refused("artifact_save", too_long), ("input_schema".into(), 400));
    };
    s0_094_artifact_save_content_type: |agent| {
        requires(agent, "content_type");
        keeps(agent, "content_type", json!("text/html; charset=utf-8"));
        let refused = agent.refused("artifact_save", artifact(json!({"content_type": "html"})));
        assert_eq!(refused, ("input_schema".into(), 400));
    };
    s0_095_artifact_save_summary: |agent| keeps(agent, "summary", json!("The sales of May."));
    s0_096_artifact_save_tags: |agent| keeps(agent, "tags", json!(["sales", "may"]));
    s0_097_artifact_list_type_filters: |agent| {
        agent.data("artifact_save", artifact(json!({"artifact_type": "s0_097"})));
        agent.data("artifact_save", artifact(json!({"artifact_type": "s0_097 not", "title": "Costs"})));
        let page = agent.data("artifact_list", json!({"artifact_type": "s0_097"}));
        let items = page["items"].as_array().expect("items");
        assert_eq!((items.len(), &items[0]["title"], &items[0]["content"]), (1, &json!("Sales"), &json!(null)));
    };
    s0_098_artifact_list_limit: |agent| {
        for title in ["one", "two"] {
            agent.data("artifact_save", artifact(json!({"artifact_type": "s0_098", "title": title})));
        }
        assert_eq!(agent.listed("artifact_list", json!({"artifact_type": "s0_098", "limit": 1}), "title"), ["two"]);
    };
    s0_099_artifact_list_offset: |agent| {
        for title in ["one", "two"] {
            agent.data("artifact_save", artifact(json!({"artifact_type": "s0_099", "title": title})));
        }
        assert_eq!(agent.listed("artifact_list", json!({"artifact_type": "s0_099", "offset": 1}), "title"), ["one"]);
    };
    s0_100_artifact_get: |agent| {
        let saved = agent.data("artifact_save", artifact(json!({})));
        assert_eq!(agent.data("artifact_get", json!({"artifact_id": saved["artifact_id"]})), saved);
    };
    s0_101_artifact_get_with_download_url: |agent| {
        let (server, title) = (&agent.0.team.server, "Sales of May/June é");
        let saved = agent.data("artifact_save", artifact(json!({"title": title, "content": "<script>1</script>", "content_type": "text/html"})));
        let get = |wanted: Value| agent.data("artifact_get", json!({"artifact_id": saved["artifact_id"], "with_download_url": wanted}));
        assert_eq!((get(json!(false)), get(json!(null))), (saved.clone(), saved.clone()));
        let url = get(json!(true))["download_url"].as_str().expect("a link").to_owned();
        let path = url.strip_prefix(&server.url).expect("a URL of the server");
        let downloaded = server.request("GET", path).send();
        assert_eq!((downloaded.status, &downloaded.body[..]), (200, &b"<script>1</script>"[..]));
        for (name, value) in [
            ("content-type", "text/html"),
            ("content-disposition", "attachment; filename*=UTF-8''Sales%20of%20May%5FJune%20%C3%A9"),
            ("content-security-policy", "sandbox; default-src 'none'"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(downloaded.headers[name], value, "{name}");
        }
        let forged = format!("{path}x");
        assert_eq!(server.request("GET", &forged).send().status, 404);
        agent.data("artifact_delete", json!({"artifact_id": saved["artifact_id"]}));
        assert_eq!(server.request("GET", path).send().status, 404, "the artifact is gone");
    };
    s0_146_artifact_types_and_producers: |agent| {
        for of_type in ["html_report", "dashboard", "pdf", "document", "plan"] {
            keeps(agent, "artifact_type", json!(of_type));
        }
        keeps(agent, "producer_thread_id", json!("conversation-1"));
        let saved = agent.data("artifact_save", artifact(json!({})));
        assert_eq!(saved["producer_agent_id"], agent.0.id.as_str());
        let forged = artifact(json!({"producer_agent_id": "6b087fb88c8b71fedaf8732b"}));
        assert_eq!(agent.refused("artifact_save", forged), ("input_schema".into(), 400));
    };
    an_artifact_of_bytes_is_downloaded_as_bytes: |agent| {
        let (server, pdf) = (&agent.0.team.server, b"%PDF-1.7\n\xff\x00");
        let of = |fields: Value| {
            let mut all = json!({"artifact_type": "pdf", "content_type": "application/pdf", "content_encoding": "base64"});
            all.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
            artifact(all)
        };
        let saved = agent.data("artifact_save", of(json!({"content": STANDARD.encode(pdf)})));
        assert_eq!((&saved["content_encoding"], &saved["warnings"]), (&json!("base64"), &json!(null)));
        let shown = agent.data("artifact_get", json!({"artifact_id": saved["artifact_id"], "with_download_url": true}));
        let url = shown["download_url"].as_str().expect("a link");
        let downloaded = server.request("GET", url.strip_prefix(&server.url).expect("a URL of the server")).send();
        assert_eq!((downloaded.status, &downloaded.body[..]), (200, &pdf[..]));
        let read = agent.0.send("resources/read", json!({"uri": format!("artifact://{}", saved["artifact_id"].as_str().expect("an id"))}));
        assert_eq!(read["result"]["contents"][0]["blob"], STANDARD.encode(pdf), "{read}");
        for (content, words) in [("JVBERg", "base64"), ("JVBE\nRg==", "base64"), ("AAEC", "%PDF-"), ("Read me.", "base64")] {
            let error = agent.error("artifact_save", of(json!({"content": content})));
            assert_eq!((&error["code"], error["message"].as_str().is_some_and(|text| text.contains(words))), (&json!("invalid_value"), true), "{error}");
        }
        let text = |fields: Value| agent.data("artifact_save", artifact(fields))["warnings"].to_string();
        assert!(text(json!({"artifact_type": "pdf"})).contains("content_type: "));
        assert!(text(json!({"content_type": "image/png"})).contains("content_encoding: "));
        assert_eq!(text(json!({})), "null");
    };
    s0_103_artifact_delete: |agent| {
        let id = agent.data("artifact_save", artifact(json!({})))["artifact_id"].clone();
        agent.data("artifact_delete", json!({"artifact_id": id}));
        assert_eq!(agent.refused("artifact_get", json!({"artifact_id": id})), ("not_found".into(), 404));
    };
}
