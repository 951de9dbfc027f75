//! The server's OpenAPI document. Every response must match it.
//!
//! The tests of `api` include this file, too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Value, json};

static DOCUMENT: LazyLock<Value> = LazyLock::new(api::build_openapi_document);

static VALIDATORS: Mutex<BTreeMap<String, &'static Validator>> = Mutex::new(BTreeMap::new());

/// The parts of a response that are checked.
pub struct Answered<'a> {
    pub status: u16,
    pub content_type: &'a str,
    pub body: &'a [u8],
}

/// Fails the test when a response does not match the document. Paths and methods that the document does not contain
/// are ignored.
pub fn check(method: &str, path: &str, answer: &Answered) {
    let path = path.split('?').next().expect("a path").trim_end_matches('/');
    let Some((template, operation)) = operation(method, path) else { return };
    let what = format!("{method} {template}: {} {}", answer.status, String::from_utf8_lossy(answer.body));
    let response = followed(&operation["responses"][answer.status.to_string()]);
    assert!(response.is_object(), "the document knows no such status: {what}");
    let Some(content) = response.get("content") else {
        assert!(answer.body.is_empty(), "the document knows no body: {what}");
        return;
    };
    let media_type = answer.content_type.split(';').next().expect("a part").trim();
    let any = content.get("*/*");
    let content = content.get(media_type).or(any).unwrap_or(&Value::Null);
    assert!(content.is_object(), "the document knows no such content type, {media_type}: {what}");
    if media_type == "application/json" && content["schema"].is_object() && !answer.body.is_empty() {
        let body = serde_json::from_slice(answer.body).unwrap_or_else(|error| panic!("{error}: {what}"));
        check_body(&response["x-error-codes"], &content["schema"], &body, &what);
    }
}

/// Resolves a reference.
pub fn followed(value: &'static Value) -> &'static Value {
    let Some(reference) = value["$ref"].as_str() else { return value };
    DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

fn check_body(codes: &Value, schema: &Value, body: &Value, what: &str) {
    let errors = errors(schema, body);
    assert!(errors.is_empty(), "{errors:?}: {what}");
    // An error of OAuth has no code of this API.
    let code = body.get("code").or_else(|| body.pointer("/error/code").filter(|code| code.is_string()));
    if let (Some(codes), Some(code)) = (codes.as_array(), code) {
        assert!(codes.contains(code), "the document knows no such code here: {what}");
    }
}

/// Returns the errors of a value against a schema of the document.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let errors = validator(schema).iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn validator(schema: &Value) -> &'static Validator {
    let mut validators = VALIDATORS.lock();
    validators.entry(schema.to_string()).or_insert_with(|| {
        let whole = json!({"allOf": [schema], "components": DOCUMENT["components"]});
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        let built = options.build(&whole).unwrap_or_else(|error| panic!("{error}: {schema}"));
        Box::leak(Box::new(built))
    })
}

/// Returns the operation of a path. Literal segments take precedence over parameters.
fn operation(method: &str, path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().expect("an object");
    let fitting = paths.iter().filter(|(template, _)| fits(template, path));
    let (template, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
    let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
    item.get(&method).map(|operation| (template.as_str(), operation))
}

/// Only git's path parameter spans several segments.
fn fits(template: &str, path: &str) -> bool {
    if let Some(prefix) = template.strip_suffix("/{git_path}") {
        return path.split('/').count() > prefix.split('/').count() && parts_fit(prefix, path);
    }
    template.split('/').count() == path.split('/').count() && parts_fit(template, path)
}

fn parts_fit(template: &str, path: &str) -> bool {
    template.split('/').zip(path.split('/')).all(|(expected, found)| expected.starts_with('{') || expected == found)
}
