//! Ambiguous and malformed JSON bodies: the server refuses them and changes nothing.

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The body of a new tool with this description.
fn build_tool(description: &str) -> Vec<u8> {
    format!(r#"{{"name": "odd", "description": {description}, "tags": {{}}}}"#).into_bytes()
}

#[tokio::test]
async fn ambiguous_and_malformed_bodies_are_refused() {
    let app = TestApp::start().await;
    let twice = br#"{"name": "odd", "description": "d", "tags": {}, "name": "other"}"#;
    let twice_inside = br#"{"name": "odd", "description": "d", "tags": {"a": null, "a": "b"}}"#;
    let twice_escaped = br#"{"name": "odd", "description": "d", "tags": {}, "\u006eame": "other"}"#;
    let mut with_mark = b"\xef\xbb\xbf".to_vec();
    with_mark.extend(build_tool(r#""d""#));
    let bodies: Vec<Vec<u8>> = vec![
        twice.to_vec(),
        twice_inside.to_vec(),
        twice_escaped.to_vec(),
        build_tool("\"a\u{0}b\""),
        build_tool("\"a\nb\""),
        build_tool(r#""\ud800""#),
        build_tool(r#""\udc00\ud800""#),
        build_tool(r#""\ud800\u0041""#),
        [&build_tool("\"")[..33], b"\xed\xa0\x80\", \"tags\": {}}"].concat(),
        [&build_tool("\"")[..33], b"\xff\", \"tags\": {}}"].concat(),
        build_tool("18446744073709551616"),
        build_tool("1e400"),
        build_tool("NaN"),
        build_tool("Infinity"),
        build_tool("'d'"),
        build_tool("\"d\" /* d */"),
        build_tool("\"d\",,\"e\": 1"),
        [build_tool(r#""d""#), build_tool(r#""d""#)].concat(),
        with_mark,
        build_tool(r#""d""#).iter().flat_map(|byte| [*byte, 0]).collect(),
    ];
    for body in bodies {
        let text = String::from_utf8_lossy(&body).into_owned();
        let answer = app.request_signed("POST", "/tool").header("content-type", "application/json").body(body).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{text:?}");
        let problems = answer.check_shape("HTTPValidationError");
        assert_eq!(problems["detail"][0]["loc"], json!(["body"]), "{text:?}");
    }
    assert_eq!(app.get("/tool").await.json()["tools"], json!([]));
}

#[tokio::test]
async fn texts_with_nul_are_refused() {
    let app = TestApp::start().await;
    for (body, place) in [
        (json!({"name": "odd", "description": "a\u{0}b", "tags": {}}), json!(["body", "description"])),
        (json!({"name": "o\u{0}d", "description": "d", "tags": {}}), json!(["body", "name"])),
        (json!({"name": "odd", "description": "d", "tags": {"a\u{0}": null}}), json!(["body", "tags"])),
        (json!({"name": "odd", "description": "d", "tags": {"a": "\u{0}"}}), json!(["body", "tags"])),
    ] {
        let answer = app.post("/tool", &body).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{body}");
        assert_eq!(answer.json()["detail"][0]["loc"], place, "{body}");
    }
}

#[tokio::test]
async fn depth_is_bounded() {
    let app = TestApp::start().await;
    let path = format!("/tool/{}/version/1.0.0/invoke", "a".repeat(24));
    let input = |parameters: &str| {
        let rest = r#""invocation_mode": "regular", "nonsensitive_user_variables": {}, "sensitive_user_variables": {}"#;
        format!(r#"{{"inputs": [{{"input_parameters": {{"x": {parameters}}}, {rest}}}]}}"#)
    };
    // The levels above the lists are the body, `inputs`, the input and its parameters.
    for (lists, expected) in [(123, StatusCode::NOT_FOUND), (124, StatusCode::UNPROCESSABLE_ENTITY)] {
        let nested = format!("{}{}", "[".repeat(lists), "]".repeat(lists));
        let request = app.request_signed("POST", &path).header("content-type", "application/json");
        assert_eq!(request.body(input(&nested)).await.status, expected, "{lists}");
    }
    for endless in ["[".repeat(500_000), "{\"a\":".repeat(100_000), "[{\"a\":".repeat(100_000)] {
        let request = app.request_signed("POST", &path).header("content-type", "application/json");
        assert_eq!(request.body(input(&endless)).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
}

#[tokio::test]
async fn the_size_of_a_body_is_bounded_to_the_byte() {
    let app = TestApp::start().await;
    let operations: [(&str, Value); 6] = [
        ("/tool", json!({"name": "large", "description": "d", "tags": {}})),
        ("/tool/ID", json!({})),
        ("/tool/ID/envvar", json!({})),
        ("/tool/ID/version", json!({"project_path": "a", "bump_type": "minor"})),
        ("/tool/ID/version/1.0.0/invoke", json!({"inputs": []})),
        ("/tool/test", json!({})),
    ];
    for (path, body) in operations {
        let path = path.replace("ID", &"a".repeat(24));
        let padded = |bytes: usize| {
            let mut text = body.to_string();
            text.push_str(&" ".repeat(bytes - text.len()));
            text
        };
        for (bytes, refused) in [(BODY_BYTES_MAX, false), (BODY_BYTES_MAX + 1, true)] {
            let chunks = padded(bytes).into_bytes();
            let chunks: Vec<_> = chunks.chunks(60_000).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
            let stream = Body::from_stream(futures_util::stream::iter(chunks));
            let whole =
                app.request_signed("POST", &path).header("content-type", "application/json").body(padded(bytes)).await;
            let streamed =
                app.request_signed("POST", &path).header("content-type", "application/json").body(stream).await;
            for answer in [whole, streamed] {
                assert_eq!(answer.refusal() == (413, "body_too_large".into()), refused, "{path} {bytes}");
            }
        }
    }
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let app = TestApp::start().await;
    let body = json!({"name": "odd", "description": "d", "tags": {}, "id": 7, "": {"deep": [null]}, "Name": "x"});
    assert_eq!(app.post("/tool", &body).await.status, StatusCode::CREATED);
}

/// A misspelt field of a body without others would do nothing, with a status of success.
#[tokio::test]
async fn a_body_of_unknown_fields_alone_is_refused() {
    let app = TestApp::start().await;
    let tool = app.tool("odd").await;
    let answer = app.post(&format!("/tool/{tool}/envvar"), &json!({"upserts": [{"name": "A", "value": "b"}]})).await;
    assert_eq!(answer.refusal(), (422, "request_invalid".into()));
    let problem = &answer.check_shape("HTTPValidationError")["detail"][0];
    assert_eq!((&problem["loc"], &problem["type"]), (&json!(["body", "upserts"]), &json!("extra_forbidden")));
    assert_eq!(problem["msg"], "Unknown field; the body may have: deletes, inserts, updates");
    let answer = app.post(&format!("/tool/{tool}"), &json!({"descripton": "d"})).await;
    assert_eq!(answer.refusal(), (422, "request_invalid".into()));
    assert_eq!(app.post(&format!("/tool/{tool}/envvar"), &json!({})).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_response_names_the_fields_that_were_ignored() {
    let app = TestApp::start().await;
    let body = json!({"name": "odd", "description": "d", "tags": {}, "colour": 7, "gr\u{f6}\u{df}e": 1});
    let answer = app.post("/tool", &body).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.headers["x-ignored-fields"], "colour, gr\\u{f6}\\u{df}e");
    let answer = app.post("/tool", &json!({"name": "even", "description": "d", "tags": {}})).await;
    assert!(!answer.headers.contains_key("x-ignored-fields"));
}
