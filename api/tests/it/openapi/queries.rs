//! Queries and paths generated from the document: the reader refuses them exactly when the document does.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::bodies::{fill_in_path, is_refused_argument};
use super::generate::Generator;
use super::marks::admits;
use super::shape::list_operations;
use crate::harness::{Answer, TestApp};

/// Queries of each operation.
const CASES: u64 = 600;

/// Below the server's bound, which is not part of the document.
const URI_BYTES_MAX: usize = 8_000;

/// A parameter and its values in a query.
type ParameterValues<'a> = (&'a Value, Vec<String>);

/// The parameters of an operation, with references resolved.
fn list_parameters(document: &Value, operation: &Value, location: &str) -> Vec<Value> {
    let all = operation["parameters"].as_array().unwrap().iter();
    let followed = all.map(|parameter| match parameter["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap().clone(),
        None => parameter.clone(),
    });
    followed.filter(|parameter| parameter["in"] == location).collect()
}

fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Whether the schema of a parameter admits a text.
fn is_right(schema: &Value, text: &str) -> bool {
    match schema["type"].as_str() {
        Some("integer") => text.trim().parse::<i64>().is_ok_and(|number| admits(schema, &json!(number))),
        Some("boolean") => matches!(text.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "false" | "0"),
        Some("array") => is_right(&schema["items"], text),
        _ => admits(schema, &json!(text)),
    }
}

fn is_admitted(given: &[ParameterValues]) -> bool {
    given.iter().all(|(parameter, texts)| {
        let required = parameter["required"] == true;
        let present = !texts.is_empty();
        let repeats = parameter["schema"]["uniqueItems"] == true
            && !(1..).zip(texts).all(|(next, text)| !texts[next..].contains(text));
        (present || !required) && !repeats && texts.iter().all(|text| is_right(&parameter["schema"], text))
    })
}

fn draw<'a>(generator: &mut Generator, parameters: &'a [Value]) -> Vec<ParameterValues<'a>> {
    let mut given = Vec::new();
    for parameter in parameters {
        let is_required = parameter["required"] == true && !generator.draw_chance(10);
        let is_list = parameter["schema"]["type"] == "array";
        let count =
            u32::from(is_required || generator.draw_chance(6)) + u32::from(is_list && generator.draw_chance(10));
        given.push((
            parameter,
            (0..count).map(|_| draw_value(generator, &parameter["name"], &parameter["schema"])).collect(),
        ));
    }
    given
}

/// A value that the schema admits, in most cases.
fn draw_value(generator: &mut Generator, name: &Value, schema: &Value) -> String {
    // Only the first continuation token is known here.
    if name == "continuation_token" {
        return if generator.draw_chance(3) { "-1" } else { "0" }.to_owned();
    }
    if generator.draw_chance(4) {
        return generator.draw_text();
    }
    match generator.of(if schema["type"] == "array" { &schema["items"] } else { schema }) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Whether the form of the request is refused.
fn is_invalid(answer: &Answer) -> bool {
    let is_bad = answer.status == StatusCode::BAD_REQUEST;
    answer.status == StatusCode::UNPROCESSABLE_ENTITY || is_bad && is_refused_argument(answer)
}

#[tokio::test]
async fn document_and_reader_agree_on_every_query() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let agent = app.agent("support", &tool).await;
    let (conversation, _) = app.turn(&agent, "route").await;
    let agent_run = app.agent_run(&agent).await;
    let document = api::build_openapi_document();
    let mut lists = 0;
    for (_, template, operation) in list_operations(&document).into_iter().filter(|(method, _, _)| method == "get") {
        let parameters = list_parameters(&document, &operation, "query");
        if parameters.is_empty() || template.contains("git") {
            continue;
        }
        let path = template.replace("{organization}", "acme").replace("{tool_id}", &tool).replace("{agent_id}", &agent);
        let path = path.replace("{conversation_id}", &conversation).replace("{agent_run_id}", &agent_run);
        let mut admitted = 0;
        for seed in 0..CASES {
            let given = draw(&mut Generator::new(seed), &parameters);
            let pairs = given.iter().flat_map(|(parameter, texts)| {
                texts.iter().map(|text| format!("{}={}", parameter["name"].as_str().unwrap(), encode(text)))
            });
            let query = pairs.collect::<Vec<_>>().join("&");
            if path.len() + query.len() > URI_BYTES_MAX {
                continue;
            }
            let request = app.request("GET", &format!("{path}?{query}"));
            let answer = request.header("authorization", &format!("Bearer {}", app.token)).send().await;
            // No text may have the character NUL, which a schema says in no short way.
            let has_nul = given.iter().any(|(_, texts)| texts.iter().any(|text| text.contains('\0')));
            if has_nul {
                assert!(answer.status.is_client_error(), "{template}: {given:?}");
                continue;
            }
            let right = is_admitted(&given);
            // An id of the right form that is no position of the list.
            let is_elsewhere = right && String::from_utf8_lossy(&answer.body).contains("that this list has");
            let is_refused = is_invalid(&answer) && !is_elsewhere;
            assert_ne!(right, is_refused, "{template}: {:?} {}", given, String::from_utf8_lossy(&answer.body));
            admitted += u64::from(right);
        }
        assert!((CASES / 20..CASES * 39 / 40).contains(&admitted), "{template}: {admitted} of {CASES} were admitted");
        lists += 1;
    }
    assert!(lists >= 4, "only {lists} lists were found");
}

#[tokio::test]
async fn document_and_reader_agree_on_every_path() {
    let app = TestApp::start().await;
    let document = api::build_openapi_document();
    let mut generator = Generator::new(1);
    let mut checked = 0;
    for (method, template, operation) in list_operations(&document) {
        let parameters = list_parameters(&document, &operation, "path");
        let is_plain = operation["requestBody"].is_null() && method != "post" && !template.contains("git");
        for parameter in parameters.iter().filter(|parameter| is_plain && parameter["name"] != "organization") {
            for _ in 0..300 {
                let text = generator.draw_text();
                if text.is_empty() || text.len() > 1000 {
                    continue;
                }
                let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
                let path = fill_in_path(&template.replace(&name, &encode(&text)));
                let request = app.request(&method.to_uppercase(), &path);
                let answer = request.header("authorization", &format!("Bearer {}", app.token)).send().await;
                let is_refused = is_invalid(&answer);
                assert_ne!(admits(&parameter["schema"], &json!(text)), is_refused, "{method} {template}: {text:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "only {checked} paths were tried");
}
