//! Runs of agents, and their steps.

use agents::{AgentRunOptions, AgentRunState, RunCheckpoint, RunFailure};
use registry::{AgentId, AgentRunId, HumanRequestId, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A run of an agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRun {
    pub agent_run_id: AgentRunId,
    pub agent_id: AgentId,
    /// `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    pub objective: String,
    /// Answers of the model so far.
    pub iterations: u32,
    /// Tokens that the model has read and written so far.
    pub tokens: u64,
    /// The runs of workflows that the run has started: ids of the history.
    pub triggered_runs: Vec<RunId>,
    /// Null until the run is completed.
    pub final_answer: Option<String>,
    pub confidence: Option<f64>,
    pub summary: Option<String>,
    /// The context of the request, with the final answer under the `result_key`.
    pub context: Map<String, Value>,
    /// The question to a person, while the run is paused.
    pub question: Option<AgentRunQuestion>,
    /// The request with this question, while the run is paused.
    pub human_request_id: Option<HumanRequestId>,
    /// Why the run failed.
    pub error: Option<RunFailure>,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// The time of the end, whatever it was.
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: Option<String>,
    /// All steps, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<AgentRunStep>>,
}

/// A question to a person.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunQuestion {
    pub question: String,
    pub options: Vec<String>,
    pub context_summary: Option<String>,
    /// `low`, `medium` or `high`.
    pub urgency: Option<String>,
}

/// A step of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunStep {
    /// From one.
    pub number: u64,
    #[schemars(extend("format" = "date-time"))]
    pub timestamp: String,
    /// The fields of the step: `iteration`, `thought`, `action`, `action_input`, `observation`, `success` and `invocation_id`.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The steps of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunTrace {
    /// In the order in which they happened. A call of `__log_progress__` is a step, too.
    #[schemars(length(max = 1000))]
    pub trace: Vec<AgentRunStep>,
    /// Whether there are later ones, which `since` the time of the last step of this response finds.
    pub has_more: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunList {
    pub agent_runs: Vec<ListedAgentRun>,
    /// Whether there are older ones; the next page is `before` the last run of this one.
    pub has_more: bool,
}

/// A run of an agent in a list.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedAgentRun {
    pub agent_run_id: AgentRunId,
    pub agent_id: AgentId,
    pub user_id: String,
    /// `agent`: a model calls tools; `call`: a task of an MCP client.
    pub kind: String,
    /// `running`, `paused`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// The first 200 characters.
    pub objective: String,
    pub iterations: u32,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: Option<String>,
}

impl AgentRun {
    pub(crate) fn of(run: agents::AgentRun, checkpoint: RunCheckpoint) -> Self {
        // A question whose request has expired or was cancelled is open in the checkpoint only.
        let open = checkpoint.open_question().filter(|_| run.state == AgentRunState::Paused).cloned();
        let (answer, failure) = (checkpoint.answer().cloned(), checkpoint.failure().cloned());
        let RunCheckpoint { options, tokens, triggered_runs, .. } = checkpoint;
        let AgentRunOptions { objective, context, .. } = options;
        let (question, human_request_id) = open.map(|open| (open.question, open.request)).unzip();
        Self {
            agent_run_id: run.id,
            agent_id: run.agent,
            status: run.state.as_str().to_owned(),
            objective,
            iterations: run.iterations,
            tokens,
            triggered_runs,
            final_answer: answer.as_ref().map(|answer| answer.answer.clone()),
            confidence: answer.as_ref().map(|answer| answer.confidence),
            summary: answer.and_then(|answer| answer.summary),
            context,
            question: question.map(|asked| AgentRunQuestion {
                question: asked.question,
                options: asked.options,
                context_summary: asked.context_summary,
                urgency: asked.urgency.map(|urgency| urgency.as_str().to_owned()),
            }),
            human_request_id,
            error: failure.or_else(|| (run.state == AgentRunState::Failed).then(build_abandoned)),
            created_at: run.created_at.to_string(),
            completed_at: run.ended_at.map(|time| time.to_string()),
            trace: None,
        }
    }

    pub(crate) fn with(self, steps: Vec<agents::AgentRunStep>) -> Self {
        Self { trace: Some(steps.into_iter().map(AgentRunStep::from).collect()), ..self }
    }
}

/// The failure of a run that no server goes on with.
fn build_abandoned() -> RunFailure {
    let message =
        "three attempts at the same step failed or ended with their server, or no server went on with the run in time";
    RunFailure { code: "abandoned".to_owned(), message: message.to_owned() }
}

impl From<agents::AgentRunStep> for AgentRunStep {
    fn from(step: agents::AgentRunStep) -> Self {
        let agents::AgentRunStep { number, document, at } = step;
        Self { number, timestamp: at.to_string(), fields: serde_json::from_str(&document).unwrap_or_default() }
    }
}

impl From<agents::ListedAgentRun> for ListedAgentRun {
    fn from(run: agents::ListedAgentRun) -> Self {
        Self {
            agent_run_id: run.id,
            agent_id: run.agent,
            user_id: run.account.user().into(),
            kind: run.kind.as_str().to_owned(),
            status: run.state.as_str().to_owned(),
            objective: run.objective,
            iterations: run.iterations,
            created_at: run.created_at.to_string(),
            completed_at: run.ended_at.map(|time| time.to_string()),
        }
    }
}

/// An example of a run, for the OpenAPI document.
pub(crate) fn agent_run_example() -> Value {
    json!({
        "agent_run_id": "691f3d015c1e4d7f8a9b0c20", "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "status": "completed",
        "objective": "Find the orders of Ann.", "iterations": 2, "tokens": 900, "triggered_runs": [],
        "final_answer": "Ann has two orders.",
        "confidence": 0.9, "summary": null,
        "context": {"agentResult": {"answer": "Ann has two orders.", "confidence": 0.9}},
        "question": null, "human_request_id": null, "error": null,
        "created_at": "2026-11-20T21:40:11.000Z", "completed_at": "2026-11-20T21:40:19.000Z",
    })
}

/// An example of a step, for the OpenAPI document.
pub(crate) fn agent_run_step_example() -> Value {
    json!({
        "number": 1, "timestamp": "2026-11-20T21:40:13.000Z", "iteration": 1, "thought": "I look them up.",
        "action": "search_orders", "action_input": {"customer": "ann"}, "observation": "[17, 29]", "success": true,
        "invocation_id": "691f3c705c1e4d7f8a9b0c2e",
    })
}

/// An example of a run in a list, for the OpenAPI document.
pub(crate) fn listed_agent_run_example() -> Value {
    json!({
        "agent_run_id": "691f3d015c1e4d7f8a9b0c20", "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "user_id": "ada", "kind": "agent",
        "status": "completed", "objective": "Find the orders of Ann.", "iterations": 2,
        "created_at": "2026-11-20T21:40:11.000Z", "completed_at": "2026-11-20T21:40:19.000Z",
    })
}
