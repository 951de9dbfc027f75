//! Calls that run something: test a branch, publish a version, invoke one. All three are followed as they go.

use std::collections::BTreeMap;

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::request::{Call, Client};
use super::stream::Event;
use super::wire::{Answer, InvocationResults};

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
    /// The least that the changes need
    Auto,
}

/// One input, in the contract's own shape.
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
    pub gate: Option<Gate>,
}

/// Recorded runs that a version has to answer as they were answered.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Gate {
    pub replay: u32,
    pub different_percent_max: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower_percent_max: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Published {
    pub new_version: String,
}

impl Client {
    pub async fn test_branch(
        &self,
        request: &TestRequest,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<Answer<InvocationResults>> {
        let call = Call::new(Method::POST, &["tool", "test"]).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }

    pub async fn publish(
        &self,
        tool_id: &str,
        request: &PublishRequest,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<Answer<Published>> {
        let path = ["tool", tool_id, "version"];
        let call = Call::new(Method::POST, &path).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }

    /// Runs the highest live version that the constraint admits, once for each input, in parallel.
    pub async fn invoke(
        &self,
        tool_id: &str,
        constraint: &str,
        inputs: &[Input],
        show: impl FnMut(&Event),
    ) -> anyhow::Result<Answer<InvocationResults>> {
        let path = ["tool", tool_id, "version", constraint, "invoke"];
        let call = Call::new(Method::POST, &path).body(json!({ "inputs": inputs }));
        self.stream(call).await?.follow(show).await
    }
}
