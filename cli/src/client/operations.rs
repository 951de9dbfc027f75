//! Operations: asynchronous requests, and requests with an idempotency key.

use std::time::Duration;

use api::wire::Operation;
use reqwest::Method;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

/// Time between two requests for the state of an operation. A publication takes seconds.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const RUNNING: &str = "running";

impl Client {
    pub async fn get_operation(&self, id: &str) -> anyhow::Result<DecodedResponse<Operation>> {
        self.get(Call::new(Method::GET, &["operation", id])).await
    }

    /// Waits until an operation has ended.
    pub async fn wait_for_operation(&self, id: &str) -> anyhow::Result<DecodedResponse<Operation>> {
        loop {
            let operation = self.get_operation(id).await?;
            if operation.body.status != RUNNING {
                return Ok(operation);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
