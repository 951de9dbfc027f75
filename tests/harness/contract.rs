//! The published contract: every answer must have the shape that its operation documents.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::Answer;

static PATHS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../contract/tool-paths.json")).expect("JSON"));

/// The contract's schemas, with the two kinds of source that it does not know.
static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let mut schemas: Value = serde_json::from_str(include_str!("../contract/tool-schemas.json")).expect("JSON");
    for (kind, fields) in [("direct", vec!["user_id"]), ("branch-test", vec!["user_id", "commit_branch", "commit"])] {
        let required: Vec<&str> = fields.iter().copied().chain(["type"]).collect();
        let ours = json!({"type": "object", "properties": {"type": {"const": kind}}, "required": required});
        schemas["InvocationSource"]["oneOf"].as_array_mut().expect("a list").push(ours);
    }
    schemas
});

static VALIDATORS: Mutex<BTreeMap<String, &'static Validator>> = Mutex::new(BTreeMap::new());

/// Fails the test when an answer is not of the contract.
pub fn check(method: &str, path: &str, answer: &Answer) {
    if !path.starts_with("/v1/") || path.contains("/git/") {
        return;
    }
    match answer.status {
        200..300 => check_success(method, path, answer),
        422 => {
            check_shape("HTTPValidationError", &answer.json());
            assert!(answer.json()["code"].is_string(), "{answer}");
        }
        _ => {
            let body = answer.json();
            assert!(body["detail"].is_string() && body["code"].is_string(), "{method} {path}: {answer}");
        }
    }
}

fn check_success(method: &str, path: &str, answer: &Answer) {
    // Sign-in, the detail of a version and of a record are ours.
    let Some(responses) = responses(method, path) else { return };
    let documented = &responses[answer.status.to_string()];
    assert!(documented.is_object(), "{method} {path}: the contract knows no {}", answer.status);
    let reference = documented["content"]["application/json"]["schema"]["$ref"].as_str();
    match reference.and_then(|reference| reference.rsplit('/').next()) {
        Some(schema) => check_shape(schema, &answer.json()),
        None => assert!(answer.status == 200 || answer.body.is_empty(), "{method} {path}: {answer}"),
    }
}

pub fn check_shape(schema: &str, body: &Value) {
    let errors: Vec<_> =
        validator(schema).iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{schema}: {errors:?}\n{body:#}");
}

fn validator(schema: &str) -> &'static Validator {
    let mut validators = VALIDATORS.lock().expect("no test panics here");
    validators.entry(schema.to_owned()).or_insert_with(|| {
        let reference = format!("#/components/schemas/{schema}");
        let document = json!({"$ref": reference, "components": {"schemas": SCHEMAS.clone()}});
        Box::leak(Box::new(jsonschema::options().should_validate_formats(true).build(&document).expect("a schema")))
    })
}

/// The responses of the operation that a path belongs to; a literal segment wins over a parameter.
fn responses(method: &str, path: &str) -> Option<&'static Value> {
    let fits = |template: &str| {
        let (template, path) = (template.trim_end_matches('/').split('/'), path.trim_end_matches('/').split('/'));
        template.clone().count() == path.clone().count()
            && template.zip(path).all(|(expected, found)| expected.starts_with('{') || expected == found)
    };
    let parameters = |template: &str| template.matches('{').count();
    let paths = PATHS.as_object().expect("an object").iter().filter(|(template, _)| fits(template));
    let (_, operations) = paths.min_by_key(|(template, _)| parameters(template))?;
    operations.get(method.to_lowercase()).map(|operation| &operation["responses"])
}
