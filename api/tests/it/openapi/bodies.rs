//! Bodies generated from the document, some with an error: the reader refuses a body exactly when the document does.

use axum::http::StatusCode;
use serde_json::Value;

use super::generate::Generator;
use super::marks::admits;
use super::shape::list_operations;
use crate::harness::{Answer, TestApp};

/// Bodies of each operation.
const CASES: u64 = 400;

/// Bodies of each operation in which one value after the other becomes null.
const NULLED: u64 = 20;

/// The path with ids that do not exist.
pub fn fill_in_path(template: &str) -> String {
    let path = template.replace("{organization}", "acme").replace("{version}", "1.0.0");
    let path = path.replace("{api_key_id}", "aaaaaaaaaaaa").replace("{number}", "1");
    let segments = path.split('/').map(|part| if part.starts_with('{') { "f".repeat(24) } else { part.to_owned() });
    segments.collect::<Vec<_>>().join("/")
}

/// An operation with a JSON body.
struct Bodied {
    method: String,
    template: String,
    schema: Value,
}

fn list_bodies() -> Vec<Bodied> {
    let document = api::build_openapi_document();
    let mut found = Vec::new();
    for (method, template, operation) in list_operations(&document) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if let Some(reference) = schema["$ref"].as_str() {
            let schema = document.pointer(&reference[1..]).unwrap().clone();
            found.push(Bodied { method: method.to_uppercase(), template, schema });
        }
    }
    found
}

/// Whether the form is invalid. A name that is too long has a status and a code of its own.
fn is_refused(answer: &Answer) -> bool {
    answer.status == StatusCode::UNPROCESSABLE_ENTITY
        || answer.status == StatusCode::BAD_REQUEST
            && (is_refused_argument(answer) || answer.json()["code"] == "name_too_long")
}

/// Whether a tool refuses the form of its arguments.
pub fn is_refused_argument(answer: &Answer) -> bool {
    let code = &answer.json()["error"]["code"];
    code == "input_schema" || code == "request_invalid"
}

fn has_unknown_fields_alone(answer: &Answer) -> bool {
    let answer: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    answer["detail"]
        .as_array()
        .is_some_and(|problems| problems.iter().all(|problem| problem["type"] == "extra_forbidden"))
}

async fn compare(app: &TestApp, operation: &Bodied, body: &Value) -> bool {
    let Bodied { method, template, schema } = operation;
    let request =
        app.request(method, &fill_in_path(template)).header("authorization", &format!("Bearer {}", app.token));
    let answer = request.json(body).await;
    let admitted = admits(schema, body);
    // The schema admits other fields than its own, but a body of nothing else would do nothing.
    if admitted && has_unknown_fields_alone(&answer) {
        return admitted;
    }
    assert_ne!(
        admitted,
        is_refused(&answer),
        "{template}: the document says {admitted}, the reader {} {}\n{body}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    );
    admitted
}

#[tokio::test]
async fn document_and_reader_agree_on_every_body() {
    let app = TestApp::start().await;
    let bodies = list_bodies();
    assert!(bodies.len() >= 6);
    for operation in bodies {
        let mut admitted = 0;
        for seed in 0..CASES {
            let mut generator = Generator::new(seed);
            let mut body = generator.of(&operation.schema);
            for _ in 0..seed % 3 {
                generator.spoil(&mut body);
            }
            admitted += u64::from(compare(&app, &operation, &body).await);
        }
        // Both verdicts must occur.
        assert!(
            (CASES / 20..CASES * 9 / 10).contains(&admitted),
            "{} {}: {admitted} of {CASES} were admitted",
            operation.method,
            operation.template
        );
    }
}

/// JSON pointers to all values inside a value.
fn list_pointers(value: &Value) -> Vec<String> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let of = |(key, value): &(String, &Value)| {
        let below = list_pointers(value).into_iter().map(|pointer| format!("/{key}{pointer}"));
        std::iter::once(format!("/{key}")).chain(below).collect::<Vec<_>>()
    };
    parts.iter().flat_map(of).collect()
}

#[tokio::test]
async fn document_and_reader_agree_on_null_at_every_position() {
    let app = TestApp::start().await;
    let mut tried = 0;
    for operation in list_bodies() {
        for seed in 0..NULLED {
            let body = Generator::new(seed).of(&operation.schema);
            for pointer in list_pointers(&body) {
                let mut spoilt = body.clone();
                *spoilt.pointer_mut(&pointer).unwrap() = Value::Null;
                compare(&app, &operation, &spoilt).await;
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}
