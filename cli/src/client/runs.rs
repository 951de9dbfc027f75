//! Calls that are streamed: test a branch, publish a version, invoke a version.
//!
//! The server decodes requests by hand, so the types of requests are the client's own.

use std::collections::BTreeMap;

use api::wire::{InvocationResults, PublishedVersion};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};
use super::stream::Event;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Regular,
    ConversationSimulation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    Major,
    Minor,
    Patch,
    /// The smallest bump that fits the changes
    Auto,
}

/// One input of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    pub input_parameters: Map<String, Value>,
    pub invocation_mode: Mode,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    pub sensitive_user_variables: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TestRequest {
    pub inputs: Vec<Input>,
    pub commit_branch: String,
    pub project_path: String,
    pub required_envvars: BTreeMap<String, String>,
    pub required_secret_envvars: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PublishRequest {
    pub project_path: String,
    pub bump_type: Bump,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<ReplayGate>,
}

/// A condition of a publish: recorded runs that the new version must repeat with the same results.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReplayGate {
    pub replay: u32,
    pub different_percent_max: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower_percent_max: Option<u32>,
}

/// The version to invoke and its inputs.
pub struct InvokeRequest<'a> {
    pub tool_id: &'a str,
    pub constraint: &'a str,
    pub inputs: &'a [Input],
}

impl Client {
    pub async fn test_branch(
        &self,
        request: &TestRequest,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<InvocationResults>> {
        let call = Call::new(Method::POST, &["tool", "test"]).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }

    pub async fn publish(
        &self,
        tool_id: &str,
        request: &PublishRequest,
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
