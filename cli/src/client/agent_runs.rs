//! Runs of agents.

use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

/// Time between two requests for the status of a run. A model takes seconds for an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const RUNNING: &str = "running";

/// A run of an agent.
#[derive(Debug, Deserialize)]
pub struct AgentRun {
    pub agent_run_id: String,
    pub status: String,
    pub final_answer: Option<String>,
    /// The question to a person, while the run is paused.
    pub question: Option<AgentRunQuestion>,
    /// The request with this question.
    pub human_request_id: Option<String>,
    /// Why the run failed.
    pub error: Option<AgentRunError>,
}

#[derive(Debug, Deserialize)]
pub struct AgentRunQuestion {
    pub question: String,
}

#[derive(Debug, Deserialize)]
pub struct AgentRunError {
    pub code: String,
    pub message: String,
}

impl Client {
    /// Waits until a run has ended or waits for a person.
    pub async fn wait_for_agent_run(&self, id: &str) -> anyhow::Result<DecodedResponse<AgentRun>> {
        let path = ["agents", id, "status"];
        loop {
            let run: DecodedResponse<AgentRun> = self.get(Call::to_server(Method::GET, &path)).await?;
            if run.body.status != RUNNING {
                return Ok(run);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
