//! Validates documents against the contract's schemas.

use std::collections::BTreeMap;

use jsonschema::{Draft, Validator};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::document::{SCHEMAS, SCHEMAS_AT};

static VALIDATORS: Mutex<BTreeMap<String, &'static Validator>> = Mutex::new(BTreeMap::new());

/// Fails the test when a document does not match the named schema.
pub fn check(schema: &str, document: &Value) {
    let errors = validator(schema).iter_errors(document);
    let errors: Vec<_> = errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{schema}: {errors:?}\n{document:#}");
}

fn validator(schema: &str) -> &'static Validator {
    let mut validators = VALIDATORS.lock();
    validators.entry(schema.to_owned()).or_insert_with(|| {
        let document = json!({"$ref": format!("{SCHEMAS_AT}{schema}"), "components": {"schemas": &*SCHEMAS}});
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        Box::leak(Box::new(options.build(&document).expect("a schema")))
    })
}
