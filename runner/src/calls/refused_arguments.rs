//! Arguments that the schema of a tool refuses, as callers of one input see them.

use serde_json::{Value, json};

use crate::error::{Error, SchemaViolation};

/// The fields of invalid arguments. `None` for another error.
#[must_use]
pub fn invalid_fields(error: &Error) -> Option<Value> {
    let Error::InvalidInput { violations } = error else { return None };
    let field = |violation: &SchemaViolation| json!({"field": violation.pointer, "message": violation.message});
    Some(violations.iter().map(field).collect())
}

/// The text of an error. The only input of a call has no number.
#[must_use]
pub fn refusal_message(error: &Error) -> String {
    match error {
        Error::InvalidInput { violations } => {
            let texts = violations.iter().map(|violation| match violation.pointer.as_str() {
                "" => format!("arguments: {}", violation.message),
                pointer => format!("{pointer}: {}", violation.message),
            });
            texts.collect::<Vec<_>>().join("; ")
        }
        error => error.to_string(),
    }
}
