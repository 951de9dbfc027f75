//! The events of a stream, before its result.

use builder::StepState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A step of a build (`step`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildStep {
    pub name: String,
    pub state: BuildStepState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildStepState {
    Started,
    Finished,
}

/// A line of a build log (`log`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildLog {
    pub line: String,
}

/// A message that a tool sends while it runs (`status`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusEvent {
    pub invocation_id: String,
    /// Index of the input, from 0.
    pub input_index: usize,
    pub message: String,
    pub progress: Option<f64>,
    pub total: Option<f64>,
    pub data: Option<Value>,
}

impl BuildStep {
    pub fn new(name: &str, state: StepState) -> Self {
        let (state, duration_ms) = match state {
            StepState::Started => (BuildStepState::Started, None),
            StepState::Finished { duration_ms } => (BuildStepState::Finished, Some(duration_ms)),
        };
        Self { name: name.to_owned(), state, duration_ms }
    }
}

impl From<runner::StatusEvent> for StatusEvent {
    fn from(event: runner::StatusEvent) -> Self {
        let runner::StatusEvent { invocation_id, input_index, message, progress, total, data } = event;
        Self { invocation_id: invocation_id.into(), input_index, message, progress, total, data }
    }
}
