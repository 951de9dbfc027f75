//! Operations: asynchronous requests, and requests with an idempotency key.

use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

/// Time between two requests for the state of an operation. A publication takes seconds.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const RUNNING: &str = "running";

/// An operation.
#[derive(Debug, Deserialize)]
pub struct Operation {
    pub id: String,
    /// `invoke` or `publish`.
    pub kind: String,
    pub status: String,
    pub started_at: String,
    pub finished_at: Option<String>,
    /// The status of the response.
    pub http_status: Option<u16>,
    /// The body of the response, after a success.
    #[serde(default)]
    pub result: Value,
    /// The body of the response, after a failure.
    #[serde(default)]
    pub error: Value,
}

impl Client {
    pub async fn operation(&self, id: &str) -> anyhow::Result<DecodedResponse<Operation>> {
        self.get(Call::new(Method::GET, &["operation", id])).await
    }

    /// Waits until an operation has ended.
    pub async fn wait_for_operation(&self, id: &str) -> anyhow::Result<DecodedResponse<Operation>> {
        loop {
            let operation = self.operation(id).await?;
            if operation.body.status != RUNNING {
                return Ok(operation);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
