//! Responses, read into the types of `api::wire`.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::explain_unexpected;

/// A response: the whole document, for `--json`, and the part that the program reads.
#[derive(Debug)]
pub struct DecodedResponse<T> {
    pub document: Value,
    pub body: T,
}

impl<T: DeserializeOwned> DecodedResponse<T> {
    pub fn read(document: Value, url: &str) -> anyhow::Result<Self> {
        let body = T::deserialize(&document).map_err(|error| explain_unexpected(url, error))?;
        Ok(Self { document, body })
    }
}

/// Reads a part of a response.
pub fn read<T: DeserializeOwned>(document: &Value) -> anyhow::Result<T> {
    Ok(T::deserialize(document).map_err(|error| explain_unexpected("the server", error))?)
}

/// Reads the items of a list.
pub fn read_all<T: DeserializeOwned>(documents: &[Value]) -> anyhow::Result<Vec<T>> {
    documents.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use api::wire::{InvocationResults, InvocationSource, RunOutcome, ToolInvocation};
    use serde_json::json;

    use super::*;

    #[test]
    fn both_results_are_read() {
        let results = json!({"invocation_results": [
            {"succeeded": true, "output": "o", "duration_ms": 1, "invocation_id": "691f3b2a5c1e4d7f8a9b0c1d", "persisted": false},
            {
                "succeeded": false, "exception_message": "m", "exception_type": "t", "exception_stack_trace": [],
                "duration_ms": 2, "invocation_id": "691f3b2a5c1e4d7f8a9b0c1e", "persisted": false,
            },
        ]});
        let results: DecodedResponse<InvocationResults> = DecodedResponse::read(results, "http://h").expect("readable");
        let [first, second] = results.body.invocation_results.as_slice() else { panic!("two results") };
        assert!(matches!(&first.outcome, RunOutcome::Succeeded { output, .. } if output == "o"));
        assert!(matches!(&second.outcome, RunOutcome::Failed { .. }) && second.duration_ms == 2);
    }

    #[test]
    fn a_record_of_a_newer_server_is_read() {
        let record: ToolInvocation = read(&json!({
            "id": "a", "org_id": "acme", "created_at": "2026-11-20T09:41:00.000Z", "later": [1],
            "updated_at": "2026-11-20T09:41:00.009Z", "duration_ms": 9, "invocation_status": null,
            "invocation_source": {"type": "later", "field": 1}, "origin": "later", "tool_id": "b",
            "tool_version": {"major": 0, "minor": 0, "patch": 0}, "inputs": {"text": "hello"},
            "invocation_mode": "later", "nonsensitive_user_variables": {}, "sensitive_user_variables": {},
            "persisted": false, "status_events": [{"message": "half"}], "logs": "",
        }))
        .expect("readable");
        assert!(
            matches!(&record.invocation_source, InvocationSource::Other(_)) && record.published_version().is_none()
        );
        assert_eq!((record.origin.as_str(), record.inputs.as_str()), ("later", r#"{"text":"hello"}"#));
    }
}
