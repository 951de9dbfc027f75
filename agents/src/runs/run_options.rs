//! The options of a run.

use registry::CallerNames;
use runner::Depth;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::stuck::OnStuck;
use crate::domain::agents::BuiltInTools;

/// The input for starting a run. It is a part of the checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentRunOptions {
    pub objective: String,
    /// The names of the tools that the model sees. Without names, all control tools, and all tools of the agent but the one that
    /// creates tasks.
    pub tools: Option<Vec<String>>,
    /// The families of the Library that the run has. `None` for those of the agent.
    pub built_in_tools: Option<BuiltInTools>,
    /// The names in which the run calls.
    pub names: CallerNames,
    /// The number of tool runs that led to the run.
    pub depth: Depth,
    /// The model, instead of that of the server.
    pub model: Option<String>,
    pub iterations_max: u32,
    pub tokens_max: u64,
    /// The key of the answer in the context.
    pub result_key: String,
    pub on_stuck: OnStuck,
    /// Whether the run goes on without people: what would be asked, fails.
    pub autonomous: bool,
    /// The time in which a person answers.
    pub human_timeout_seconds: u64,
    /// Values that the model is told beside the objective. The answer is added at the end.
    pub context: Map<String, Value>,
}

impl AgentRunOptions {
    /// Answers of the model.
    pub const ITERATIONS: u32 = 20;
    pub const TOKENS: u64 = 1_000_000;
    pub const RESULT_KEY: &str = "agentResult";
    /// A week.
    pub const HUMAN_TIMEOUT_SECONDS: u64 = 604_800;

    /// A run of a task, within the usual bounds.
    #[must_use]
    pub fn new(objective: String) -> Self {
        Self {
            objective,
            tools: None,
            built_in_tools: None,
            names: CallerNames::default(),
            depth: Depth::default(),
            model: None,
            iterations_max: Self::ITERATIONS,
            tokens_max: Self::TOKENS,
            result_key: Self::RESULT_KEY.to_owned(),
            on_stuck: OnStuck::default(),
            autonomous: false,
            human_timeout_seconds: Self::HUMAN_TIMEOUT_SECONDS,
            context: Map::new(),
        }
    }
}
