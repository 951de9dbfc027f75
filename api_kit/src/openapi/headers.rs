//! The headers of responses.

use serde_json::{Value, json};

/// The headers of a response: the common ones and `names`.
pub(super) fn build_headers(names: &[&str]) -> Value {
    let names = ["x-request-id"].iter().chain(names);
    let header = |name: &&str| ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{name}")}));
    Value::Object(names.map(header).collect())
}

/// The components that [`build_headers`] refers to.
pub(super) fn build_header_components() -> Value {
    json!({
        "x-request-id": {
            "description": "The id of the request in the server's log.", "required": true, "schema": {"type": "string"},
        },
        "accept-encoding": {
            "description": "The encoding of bodies that is accepted, if that of the body is not.",
            "required": false, "schema": {"type": "string"},
        },
        "www-authenticate": {
            "description": "`Basic` in the first header, since git then asks for credentials; `Bearer` in the second.",
            "required": true, "schema": {"type": "string"},
        },
        "location": {
            "description": "The path of the operation.", "required": true,
            "schema": {"type": "string", "format": "uri-reference"},
        },
        "preference-applied": {
            "description": "`respond-async`.", "required": true, "schema": {"type": "string"},
        },
        "retry-after": {
            "description": "Seconds to wait before the next try.", "required": true, "schema": {"type": "integer", "minimum": 1},
        },
    })
}
