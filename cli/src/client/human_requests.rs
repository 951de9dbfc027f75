//! Requests of runs of agents to people: list, show, answer.

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent_runs::AgentRun;
use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

/// A filter on requests, with the values of the API contract.
#[derive(Debug, Default)]
pub struct HumanRequestFilter {
    pub status: Option<String>,
    pub urgency: Option<String>,
    pub agent_run: Option<String>,
    pub limit: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub struct HumanRequestList {
    pub human_requests: Vec<HumanRequest>,
    pub has_more: bool,
}

/// A request of a run of an agent to a person.
#[derive(Debug, Deserialize)]
pub struct HumanRequest {
    pub human_request_id: String,
    pub agent_run_id: String,
    pub agent_id: String,
    /// The user of the run.
    pub user_id: String,
    pub kind: String,
    pub urgency: String,
    pub status: String,
    pub question: String,
    pub options: Vec<String>,
    pub context_summary: Option<String>,
    pub tool: Option<String>,
    /// The call for which an approval asks.
    pub call: Option<HumanRequestCall>,
    pub forms: Vec<HumanForm>,
    /// `None` until somebody has answered.
    pub response: Option<HumanAnswer>,
    pub answered_by: Option<String>,
    pub created_at: String,
    /// When the run goes on without an answer.
    pub expires_at: String,
    /// `None` while the request is open.
    pub closed_at: Option<String>,
}

/// The call of a tool that a person approves.
#[derive(Debug, Deserialize)]
pub struct HumanRequestCall {
    /// `None` for a tool of the server.
    pub tool_version: Option<String>,
    pub component_digest: Option<String>,
    pub agent_revision: Option<u32>,
}

/// A form of a tool.
#[derive(Debug, Deserialize)]
pub struct HumanForm {
    /// The name of the form in the answer.
    pub key: String,
    pub message: String,
    /// The JSON schema of the values.
    pub schema: Value,
}

/// The answer of a person.
#[derive(Debug, Serialize, Deserialize)]
pub struct HumanAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// The values of forms, by the keys of the forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forms: Option<Map<String, Value>>,
}

impl Client {
    /// Lists requests, the most urgent ones first, then the oldest ones.
    pub async fn list_human_requests(
        &self,
        filter: &HumanRequestFilter,
    ) -> anyhow::Result<DecodedResponse<HumanRequestList>> {
        let call = Call::new(Method::GET, &["human_request"])
            .query_all("status", &filter.status)
            .query_all("urgency", &filter.urgency)
            .query_all("agent_run_id", &filter.agent_run)
            .query_all("limit", filter.limit);
        self.get(call).await
    }

    pub async fn human_request(&self, id: &str) -> anyhow::Result<DecodedResponse<HumanRequest>> {
        self.get(Call::new(Method::GET, &["human_request", id])).await
    }

    /// Answers a request. Returns its run, which goes on.
    pub async fn answer_human_request(
        &self,
        id: &str,
        answer: &HumanAnswer,
    ) -> anyhow::Result<DecodedResponse<AgentRun>> {
        let path = ["human_request", id, "answer"];
        let call = Call::new(Method::POST, &path).query("async", true).body(serde_json::to_value(answer)?);
        self.get(call).await
    }
}
