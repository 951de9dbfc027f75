//! The stages of a run. Each has the data that only it has.

use registry::{HumanRequestId, RunId};
use runner::cut_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::human::{HumanQuestion, PAUSE, STEP_TEXT_BYTES_MAX};
use super::pending_calls::PendingCalls;
use crate::domain::agent_runs::{AgentRunState, NewStep};
use crate::model::ModelCall;

/// A stage of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunStage {
    /// The model is asked for its next calls.
    AskingModel,
    Calling {
        calls: PendingCalls,
        /// Whether the first call may have begun.
        has_begun: bool,
    },
    WaitingForPerson(OpenQuestion),
    Completed(CompletedRun),
    Failed(RunFailure),
}

/// A question to a person that nobody has answered yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The request with the question.
    pub request: HumanRequestId,
    pub question: HumanQuestion,
    pub(super) asker: Asker,
}

/// The part of a run that asks a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asker {
    /// The first of these calls. It has not begun, or has ended with the question.
    Call(Box<PendingCalls>),
    /// The server, since the run is stuck. The calls that were left are not made.
    StuckRun { not_made: Vec<ModelCall> },
}

/// The result of a completed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CompletedRun {
    Answer(FinalAnswer),
    /// The record of the only call.
    Call(RunId),
}

/// The final answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalAnswer {
    pub answer: String,
    pub confidence: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentRunFailure")]
pub struct RunFailure {
    /// `max_iterations`, `max_tokens`, `stuck`, `transcript_too_long`, `model_not_allowed`, `model_refused`, `model_unavailable`,
    /// `agent_gone` or `abandoned`; of a task of MCP also `interrupted`, `not_called`, `input_unavailable` or `unanswered`.
    pub code: String,
    pub message: String,
}

impl RunStage {
    /// The stage in which these calls are made, of which none has begun.
    pub fn of_calls(calls: Vec<ModelCall>) -> Self {
        PendingCalls::of(calls).map_or(Self::AskingModel, Self::before)
    }

    /// The stage before the first of these calls begins.
    pub const fn before(calls: PendingCalls) -> Self {
        Self::Calling { calls, has_begun: false }
    }

    /// The state of the run as it is listed.
    pub const fn state(&self) -> AgentRunState {
        match self {
            Self::AskingModel | Self::Calling { .. } => AgentRunState::Running,
            Self::WaitingForPerson(_) => AgentRunState::Paused,
            Self::Completed(_) => AgentRunState::Completed,
            Self::Failed(_) => AgentRunState::Failed,
        }
    }
}

impl OpenQuestion {
    /// The step that shows the answer to the question, or that nobody answered.
    pub(super) fn build_step(&self, iteration: u32, observation: &str, success: bool) -> NewStep {
        let asking_tool = match self.asker {
            Asker::Call(_) => Some(self.question.tool.as_deref().unwrap_or(PAUSE)),
            Asker::StuckRun { .. } => None,
        };
        let observation = cut_text(observation.to_owned(), STEP_TEXT_BYTES_MAX);
        let step = json!({
            "iteration": iteration, "thought": null, "action": asking_tool, "observation": observation,
            "success": success,
        });
        NewStep { milestone: None, document: step.to_string() }
    }
}
