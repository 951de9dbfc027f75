//! The state of a run of an agent, and its steps.

use agents::{AgentRunOptions, RunCheckpoint, RunFailure};
use registry::{AgentRun, AgentRunState, AgentRunStep, Urgency};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::wire::schemas;

/// A run of an agent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRun")]
pub(crate) struct AgentRunStatus {
    #[schemars(with = "schemas::Id")]
    agent_run_id: String,
    #[schemars(with = "schemas::Id")]
    agent_id: String,
    /// `running`, `paused`, `completed`, `failed` or `cancelled`.
    status: &'static str,
    objective: String,
    /// Answers of the model so far.
    iterations: u32,
    /// Tokens that the model has read and written so far.
    tokens: u64,
    /// The runs of workflows that the run has started: ids of the history.
    #[schemars(with = "Vec<schemas::Id>")]
    triggered_runs: Vec<String>,
    /// Null until the run is completed.
    final_answer: Option<String>,
    confidence: Option<f64>,
    summary: Option<String>,
    /// The context of the request, with the final answer under the `result_key`.
    context: Map<String, Value>,
    /// The question to a person, while the run is paused.
    question: Option<Question>,
    /// The request with this question, while the run is paused.
    #[schemars(with = "Option<schemas::Id>")]
    human_request_id: Option<String>,
    /// Why the run failed.
    error: Option<Failure>,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// The time of the end, whatever it was.
    #[schemars(extend("format" = "date-time"))]
    completed_at: Option<String>,
    /// All steps, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<TraceStep>>,
}

/// A question to a person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRunQuestion")]
struct Question {
    question: String,
    options: Vec<String>,
    context_summary: Option<String>,
    /// `low`, `medium` or `high`.
    urgency: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRunFailure")]
struct Failure {
    /// `max_iterations`, `max_tokens`, `stuck`, `transcript_too_long`, `model_not_allowed`, `model_refused`, `model_unavailable`,
    /// `agent_gone` or `abandoned`; of a task of MCP also `interrupted`, `not_called`, `input_unavailable` or `unanswered`.
    code: String,
    message: String,
}

/// A step of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRunStep")]
pub(crate) struct TraceStep {
    /// From one.
    number: u64,
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
    /// The fields of the step: `iteration`, `thought`, `action`, `action_input`, `observation`, `success` and `invocation_id`.
    #[serde(flatten)]
    step: Map<String, Value>,
}

impl AgentRunStatus {
    pub(super) fn of(run: AgentRun, checkpoint: RunCheckpoint) -> Self {
        // A question whose request has expired or was cancelled is open in the checkpoint only.
        let open = checkpoint.open_question().filter(|_| run.state == AgentRunState::Paused).cloned();
        let (answer, failure) = (checkpoint.answer().cloned(), checkpoint.failure().cloned());
        let RunCheckpoint { options, tokens, triggered_runs, .. } = checkpoint;
        let AgentRunOptions { objective, context, .. } = options;
        let (question, human_request) = open.map(|open| (open.question, open.request)).unzip();
        let failure = failure.or_else(|| (run.state == AgentRunState::Failed).then(abandoned));
        Self {
            agent_run_id: run.id.into(),
            agent_id: run.agent.into(),
            status: run.state.as_str(),
            objective,
            iterations: run.iterations,
            tokens,
            triggered_runs,
            final_answer: answer.as_ref().map(|answer| answer.answer.clone()),
            confidence: answer.as_ref().map(|answer| answer.confidence),
            summary: answer.and_then(|answer| answer.summary),
            context,
            question: question.map(|asked| Question {
                question: asked.question,
                options: asked.options,
                context_summary: asked.context_summary,
                urgency: asked.urgency.map(Urgency::as_str),
            }),
            human_request_id: human_request.map(String::from),
            error: failure.map(|failure| Failure { code: failure.code, message: failure.message }),
            created_at: run.created_at.to_string(),
            completed_at: run.ended_at.map(|time| time.to_string()),
            trace: None,
        }
    }

    pub(super) fn with(self, steps: Vec<AgentRunStep>) -> Self {
        Self { trace: Some(steps.into_iter().map(TraceStep::from).collect()), ..self }
    }

    /// An example of a run, for the OpenAPI document.
    pub(super) fn example() -> Value {
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
}

/// The failure of a run that no server goes on with.
fn abandoned() -> RunFailure {
    let message =
        "three attempts at the same step failed or ended with their server, or no server went on with the run in time";
    RunFailure { code: "abandoned".to_owned(), message: message.to_owned() }
}

impl TraceStep {
    pub(super) fn example() -> Value {
        json!({
            "number": 1, "timestamp": "2026-11-20T21:40:13.000Z", "iteration": 1, "thought": "I look them up.",
            "action": "search_orders", "action_input": {"customer": "ann"}, "observation": "[17, 29]", "success": true,
            "invocation_id": "691f3c705c1e4d7f8a9b0c2e",
        })
    }
}

impl From<AgentRunStep> for TraceStep {
    fn from(step: AgentRunStep) -> Self {
        let AgentRunStep { number, document, at } = step;
        Self { number, timestamp: at.to_string(), step: serde_json::from_str(&document).unwrap_or_default() }
    }
}
