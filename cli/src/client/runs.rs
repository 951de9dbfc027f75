//! Calls that are streamed: test a branch, publish a version, invoke a version.

use api::wire::{Input, InvocationResults, PublishToolVersion, PublishedVersion, TestTool};
use reqwest::Method;
use serde_json::json;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};
use super::stream::Event;

/// The version to invoke and its inputs.
pub struct InvokeRequest<'a> {
    pub tool_id: &'a str,
    pub constraint: &'a str,
    pub inputs: &'a [Input],
}

impl Client {
    pub async fn test_branch(
        &self,
        request: &TestTool,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<InvocationResults>> {
        let call = Call::new(Method::POST, &["tool", "test"]).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }

    pub async fn publish(
        &self,
        tool_id: &str,
        request: &PublishToolVersion,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<PublishedVersion>> {
        let path = ["tool", tool_id, "version"];
        let call = Call::new(Method::POST, &path).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }

    /// Runs the highest live version that matches the constraint, once for each input, in parallel.
    pub async fn invoke(
        &self,
        request: &InvokeRequest<'_>,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<InvocationResults>> {
        let path = ["tool", request.tool_id, "version", request.constraint, "invoke"];
        let call = Call::new(Method::POST, &path).body(json!({ "inputs": request.inputs }));
        self.stream(call).await?.follow(show).await
    }
}
