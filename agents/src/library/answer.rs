//! The results of the Library's tools: a JSON object that tells success from failure.

use registry::Outcome;
use runner::{Error, ErrorKind, failed, invalid_fields, refusal_message};
use serde_json::{Value, json};

use crate::error;

/// Why a tool failed.
#[derive(Debug)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
}

impl Failure {
    /// A fault of the server. Its cause is only logged.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!(%error, "a tool of the library failed");
        Self { code: "internal", message: "the server failed".to_owned() }
    }
}

impl From<registry::Error> for Failure {
    fn from(error: registry::Error) -> Self {
        error::Error::from(error).into()
    }
}

impl From<error::Error> for Failure {
    fn from(error: error::Error) -> Self {
        let code = match (&error, error.kind()) {
            (error::Error::Store(registry::Error::TooMany { .. }), _) => "too_many",
            (error::Error::LibraryFull { .. }, _) => "quota_exceeded",
            (_, ErrorKind::NotFound) => "not_found",
            (_, ErrorKind::Conflict) => "conflict",
            (_, ErrorKind::Invalid) => "invalid_value",
            (_, ErrorKind::Forbidden) => "permission_missing",
            (_, ErrorKind::TooMany | ErrorKind::Unavailable) => "unavailable",
            (_, ErrorKind::Internal) => return Self::internal(error),
        };
        Self { code, message: error.to_string() }
    }
}

pub(super) fn invalid(message: impl Into<String>) -> Failure {
    Failure { code: "invalid_value", message: message.into() }
}

pub(super) fn not_found(what: &str) -> Failure {
    Failure { code: "not_found", message: format!("{what} not found") }
}

pub(super) fn forbidden(message: &str) -> Failure {
    Failure { code: "permission_missing", message: message.to_owned() }
}

pub(super) fn conflict(message: &str) -> Failure {
    Failure { code: "conflict", message: message.to_owned() }
}

/// The outcome of a tool. Whoever shows a failure puts it into the same form.
pub(super) fn build_outcome(answered: Result<Value, Failure>) -> Outcome {
    match answered {
        Ok(data) => Outcome::Succeeded { output: json!({"success": true, "data": data}).to_string() },
        Err(Failure { code, message }) => failed(code, message),
    }
}

/// A failure as the tools of the Library show it.
#[must_use]
pub fn library_failure(code: &str, message: &str, details: Option<Value>) -> Value {
    let mut error = json!({"code": code, "status": find_status(code), "message": message});
    if let Some(details) = details {
        error["details"] = details;
    }
    json!({"success": false, "error": error})
}

/// A refused call as the tools of the Library show it, with the status that the HTTP API has for the error. `None` for a fault, whose
/// cause callers do not see.
#[must_use]
pub fn library_refusal(error: &Error) -> Option<Value> {
    let status = match error.kind() {
        ErrorKind::Invalid => 400,
        ErrorKind::Forbidden => 403,
        ErrorKind::NotFound => 404,
        ErrorKind::Conflict => 409,
        ErrorKind::TooMany => 429,
        ErrorKind::Unavailable => 503,
        ErrorKind::Internal => return None,
    };
    let mut failure = library_failure(error.code(), &refusal_message(error), invalid_fields(error));
    failure["error"]["status"] = json!(status);
    Some(failure)
}

/// The status of HTTP for a code.
fn find_status(code: &str) -> u16 {
    match code {
        "invalid_value" | "input_schema" | "too_many" | "quota_exceeded" | "output_too_large" => 400,
        "permission_missing" => 403,
        "not_found" => 404,
        "conflict" => 409,
        "too_many_runs" => 429,
        "unavailable" | "overloaded" => 503,
        "timeout_wall" => 504,
        _ => 500,
    }
}

/// The schema of a result with these data.
pub(super) fn wrap_schema(data: &Value) -> Value {
    let of = |success: bool, name: &str, schema: &Value| {
        json!({
            "type": "object", "properties": {"success": {"const": success}, name: schema}, "required": ["success", name],
            "additionalProperties": false,
        })
    };
    let error = json!({
        "type": "object", "required": ["code", "status", "message"],
        "properties": {
            "code": {"type": "string"}, "status": {"type": "integer"}, "message": {"type": "string"}, "details": {},
        },
    });
    json!({"type": "object", "oneOf": [of(true, "data", data), of(false, "error", &error)]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner::SchemaViolation;

    fn failure(outcome: Outcome) -> Value {
        let Outcome::Failed { exception_type, exception_message, .. } = outcome else { panic!("{outcome:?}") };
        library_failure(&exception_type, &exception_message, None)
    }

    fn of(error: impl Into<error::Error>) -> Value {
        failure(build_outcome(Err(error.into().into())))
    }

    #[test]
    fn s0_121_every_failure_has_the_form_of_a_failure() {
        for (failure, code, status) in [
            (failure(build_outcome(Err(invalid("x")))), "invalid_value", 400),
            (failure(build_outcome(Err(not_found("memory")))), "not_found", 404),
            (failure(build_outcome(Err(conflict("x")))), "conflict", 409),
            (of(error::Error::Changed { what: "item" }), "conflict", 409),
            (of(registry::Error::Closed), "unavailable", 503),
            (
                of(error::Error::LibraryFull { whose: "the user's items".into(), used: 9, added: 2, limit: 10 }),
                "quota_exceeded",
                400,
            ),
            (of(registry::Error::Corrupt { what: "row", detail: "x".into() }), "internal", 500),
            (failure(failed("timeout_wall", "x")), "timeout_wall", 504),
        ] {
            assert_eq!((&failure["success"], &failure["error"]["code"]), (&json!(false), &json!(code)));
            assert_eq!(failure["error"]["status"], status, "{failure}");
        }
    }

    #[test]
    fn a_refused_call_has_the_form_of_a_failure() {
        let violation = SchemaViolation { input_index: 0, pointer: "/limit".into(), message: "too large".into() };
        let refused = library_refusal(&Error::InvalidInput { violations: vec![violation] });
        let error = json!({
            "code": "input_schema", "status": 400, "message": "/limit: too large",
            "details": [{"field": "/limit", "message": "too large"}],
        });
        assert_eq!(refused, Some(json!({"success": false, "error": error})));
        let forbidden = library_refusal(&Error::ConfirmationMissing { tool_name: "x".into() });
        assert_eq!(forbidden.map(|failure| failure["error"]["status"].clone()), Some(json!(403)));
        assert_eq!(library_refusal(&Error::Internal { message: "a secret".into() }), None);
    }

    #[test]
    fn the_cause_of_a_fault_is_not_shown() {
        let failure = of(registry::Error::Corrupt { what: "row", detail: "secret".into() });
        assert_eq!(failure["error"]["message"], "the server failed");
    }
}
