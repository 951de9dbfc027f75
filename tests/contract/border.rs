//! Bodies, queries and headers: invalid ones are refused with a message, unknown fields are ignored.

use serde_json::json;

use crate::harness::Team;

#[test]
fn broken_bodies_are_refused_and_do_nothing() {
    let team = Team::new();
    let deep = format!(r#"{{"name": {}"#, "[".repeat(900_000));
    let bodies: [&[u8]; 9] = [
        br#"{"name": "a", "name": "b", "description": "d", "tags": {}}"#,
        br#"{"name": "a", "description": "\ud800", "tags": {}}"#,
        b"{\"name\": \"a\", \"description\": \"\xed\xa0\x80\", \"tags\": {}}",
        b"{\"name\": \"a\", \"description\": \"a\0b\", \"tags\": {}}",
        br#"{"name": "a", "description": "a\u0000b", "tags": {}}"#,
        br#"{"name": "a", "description": 184467440737095516160, "tags": {}}"#,
        br#"{"name": "a", "description": "d", "tags": {}"#,
        deep.as_bytes(),
        b"",
    ];
    for body in bodies {
        let answer = team.request("POST", "/tool/").body(body.to_vec()).send();
        answer.expect(422);
        assert!(!answer.json()["detail"][0]["msg"].as_str().expect("a text").is_empty(), "{answer}");
    }
    assert_eq!(team.get("/tool/")["tools"], json!([]));
}

#[test]
fn a_body_is_bounded() {
    let team = Team::new();
    let padded = |bytes: usize| {
        let body = json!({"name": "padded", "description": "d", "tags": {}}).to_string();
        let padding = " ".repeat(bytes - body.len());
        team.request("POST", "/tool/").body(body + &padding).send()
    };
    assert_eq!(padded((1 << 20) + 1).code(), "body_too_large");
    padded(1 << 20).expect(201);
}

#[test]
fn unknown_fields_parameters_and_headers_are_ignored() {
    let team = Team::new();
    let id = team.tool("known").id().to_owned();
    let request = |method, path: &str| {
        let request = team.request(method, &format!("{path}?colour=red&%00=%ff&colour=blue"));
        let request = request.header("x-amigo-application", "console").header("x-org-id", &team.organization);
        request.header("x-unknown", "\t;,=").header("cookie", "a=b")
    };
    for path in ["/tool/", "/tool/invocation", &format!("/tool/{id}/version/"), "/tool/amigo_tool_scaffold.tar.gz"] {
        assert_eq!(request("GET", path).send().status, 200, "{path}");
    }
    request("POST", &format!("/tool/{id}"))
        .json(&json!({"description": "d", "unknown": {"a": [1]}}))
        .send()
        .expect(204);
    request("DELETE", &format!("/tool/{id}/")).send().expect(204);
}
