//! Requests of runs of agents to people: list, show, answer.

use api::wire::{AgentRun, HumanRequest, HumanRequestList, HumanResponse};
use reqwest::Method;

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

    pub async fn get_human_request(&self, id: &str) -> anyhow::Result<DecodedResponse<HumanRequest>> {
        self.get(Call::new(Method::GET, &["human_request", id])).await
    }

    /// Answers a request. Returns its run, which goes on.
    pub async fn answer_human_request(
        &self,
        id: &str,
        answer: &HumanResponse,
    ) -> anyhow::Result<DecodedResponse<AgentRun>> {
        let path = ["human_request", id, "answer"];
        let call = Call::new(Method::POST, &path).query("async", true).body(serde_json::to_value(answer)?);
        self.get(call).await
    }
}
