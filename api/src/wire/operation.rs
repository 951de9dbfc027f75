//! Asynchronous operations, and requests with an idempotency key.

use api_kit::error::Refusal;
use registry::OperationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// An asynchronous operation, or a request with an idempotency key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// The id of an asynchronous operation.
    pub id: OperationId,
    #[schemars(extend("enum" = ["invoke", "publish"]))]
    pub kind: String,
    #[schemars(extend("enum" = ["running", "succeeded", "failed"]))]
    pub status: String,
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Null while the operation runs.
    #[schemars(extend("format" = "date-time"))]
    pub finished_at: Option<String>,
    /// The status of the response.
    pub http_status: Option<u16>,
    /// The body of the response, after a success.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub result: Option<Box<RawValue>>,
    /// The body of the response, after a failure.
    #[schemars(with = "Option<Refusal>")]
    pub error: Option<Box<RawValue>>,
}

/// An example of an operation that started, for the OpenAPI document.
pub(crate) fn operation_example() -> Value {
    json!({
        "id": "691f3c705c1e4d7f8a9b0c2e", "kind": "invoke", "status": "running",
        "started_at": "2026-11-20T09:37:36.000Z", "finished_at": null, "http_status": null, "result": null,
        "error": null,
    })
}
