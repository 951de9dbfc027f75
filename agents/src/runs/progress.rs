//! The checkpoint of a run: its options, its transcript and its memory.

use std::collections::BTreeMap;

use registry::{BuiltInTools, CallerNames, ClientName, Digest, HumanRequestId, InvocationId, RawJson, Timestamp};
use runner::{Answer, ConfirmedCall, Depth, cut_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::human::HumanQuestion;
use super::stuck::{OnStuck, Repeated};
use crate::error::Error;
use crate::model::{Entry, ModelCall};

/// Bytes of an observation that the model sees.
const OBSERVATION_BYTES_MAX: usize = 20_000;

const CREATES_TASKS: &str = "task_create";
/// The result of a call that is not made any more.
const NOT_MADE: &str = "not made";

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

/// The checkpoint of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    #[serde(flatten)]
    pub options: AgentRunOptions,
    pub(super) transcript: Vec<Entry>,
    /// Calls of the last answer that have no observation yet.
    pub(super) calls: Vec<ModelCall>,
    /// Whether the first of the calls may have begun.
    pub(super) has_begun: bool,
    pub tokens: u64,
    /// The runs of workflows that this run has started. A server that ended may not have begun the last one.
    pub triggered_runs: Vec<InvocationId>,
    pub(super) memory: BTreeMap<String, Remembered>,
    pub(super) repeated: Repeated,
    /// The question to a person, while the run is paused.
    pub question: Option<HumanQuestion>,
    pub human_request: Option<HumanRequestId>,
    /// Requests to people so far.
    pub(super) requests: u32,
    /// Answers for the first of the calls, which asked for them.
    pub(super) answers: Vec<Answer>,
    /// The code that asked for these answers.
    pub(super) answers_of: Option<Digest>,
    /// The call that a person has permitted last, while it is the first of the calls.
    pub(super) confirmed: Option<ConfirmedCall>,
    /// The number of times that the first of the calls has asked a person.
    pub(super) round: u32,
    pub single_call: Option<SingleCall>,
    pub answer: Option<FinalAnswer>,
    pub failure: Option<RunFailure>,
}

/// The call of a run without a model, of which a client asks for the result later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SingleCall {
    /// The name for models.
    pub tool: String,
    pub client: Option<ClientName>,
    /// The component that the client pins.
    pub pinned: Option<Digest>,
    /// The record of the call, once it has ended.
    pub invocation: Option<InvocationId>,
}

/// A value of the memory of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Remembered {
    pub value: Value,
    /// Milliseconds since 1970.
    pub stored_at: i64,
    pub expires_at: Option<i64>,
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

impl Progress {
    /// The beginning of a run.
    #[must_use]
    pub fn new(options: AgentRunOptions) -> Self {
        let AgentRunOptions { objective, context, .. } = &options;
        let text = match context.is_empty() {
            true => objective.clone(),
            false => format!("{objective}\n\nContext: {}", Value::Object(context.clone())),
        };
        Self {
            options,
            transcript: vec![Entry::User { text }],
            calls: Vec::new(),
            has_begun: false,
            tokens: 0,
            triggered_runs: Vec::new(),
            memory: BTreeMap::new(),
            repeated: Repeated::default(),
            question: None,
            human_request: None,
            requests: 0,
            answers: Vec::new(),
            answers_of: None,
            confirmed: None,
            round: 0,
            single_call: None,
            answer: None,
            failure: None,
        }
    }

    /// The beginning of a run of one call.
    #[must_use]
    pub fn of_call(call: SingleCall, input: RawJson, names: CallerNames, depth: Depth) -> Self {
        let (name, objective) = (call.tool.clone(), format!("A call of {}", call.tool));
        let tools = Some(vec![name.clone()]);
        let options = AgentRunOptions { tools, names, depth, ..AgentRunOptions::new(objective) };
        let model_call = ModelCall { id: "call_1".to_owned(), name, input, problem: None };
        Self { calls: vec![model_call], single_call: Some(call), ..Self::new(options) }
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// When the document is damaged.
    pub fn read(document: &str) -> Result<Self, Error> {
        serde_json::from_str(document)
            .map_err(|error| Error::internal(format!("a run of an agent is damaged: {error}")))
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn written(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    pub(super) fn allows_tool(&self, tool: &str) -> bool {
        match &self.options.tools {
            Some(names) => names.iter().any(|name| name == tool),
            // A run that a task started would start others without an end.
            None => tool != CREATES_TASKS,
        }
    }

    /// Whether the transcript has a call with this id.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.transcript.iter().any(|entry| match entry {
            Entry::Model { calls, .. } => calls.iter().any(|call| call.id == id),
            _ => false,
        })
    }

    /// Drops what nobody reads after the end.
    pub(super) fn clear(&mut self) {
        (self.transcript, self.calls) = (Vec::new(), Vec::new());
        self.memory.clear();
    }

    /// Adds what came of the first of the calls.
    pub(super) fn observe(&mut self, text: String, is_error: bool) {
        if self.calls.is_empty() {
            return;
        }
        let call = self.calls.remove(0).id;
        self.has_begun = false;
        (self.answers, self.answers_of, self.confirmed, self.round) = (Vec::new(), None, None, 0);
        self.transcript.push(Entry::Observation { call, text: cut_text(text, OBSERVATION_BYTES_MAX), is_error });
    }

    /// Adds a text for the model. Calls that are left are not made: every call needs a result before another text.
    pub(super) fn push_user_message(&mut self, text: String) {
        while !self.calls.is_empty() {
            self.observe(NOT_MADE.to_owned(), true);
        }
        self.transcript.push(Entry::User { text });
    }

    /// Ends the run with an answer, which becomes part of the context.
    pub(super) fn complete(&mut self, answer: FinalAnswer) {
        let AgentRunOptions { context, result_key, .. } = &mut self.options;
        context.insert(result_key.clone(), json!(answer));
        self.answer = Some(answer);
    }

    pub(super) fn fail(&mut self, code: &str, message: impl Into<String>) {
        self.failure = Some(RunFailure { code: code.to_owned(), message: message.into() });
    }

    /// Drops what has expired.
    pub(super) fn forget_expired(&mut self, now: Timestamp) {
        let now = now.as_milliseconds();
        self.memory.retain(|_, remembered| remembered.expires_at.is_none_or(|at| at > now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers of different releases go on with each other's runs.
    #[test]
    fn the_options_are_fields_of_the_checkpoint() {
        let written = json!({
            "objective": "Find it.", "tools": ["look_up"], "names": CallerNames::default(), "depth": Depth::default(),
            "model": "large", "iterations_max": 7, "tokens_max": 300, "result_key": "found", "on_stuck": OnStuck::default(),
            "autonomous": true, "human_timeout_seconds": 60, "context": {"customer": 1.5}, "transcript": [], "calls": [],
            "has_begun": false, "tokens": 200, "triggered_runs": [], "built_in_tools": null, "memory": {},
            "repeated": Repeated::default(), "question": null,
            "human_request": null, "requests": 0, "answers": [], "answers_of": null, "confirmed": null, "round": 0, "single_call": null, "answer": null,
            "failure": null,
        });
        let read = Progress::read(&written.to_string()).unwrap();
        assert_eq!((read.options.tokens_max, read.options.model.as_deref(), read.tokens), (300, Some("large"), 200));
        let again: Value = serde_json::from_str(&read.written().unwrap()).unwrap();
        for (name, value) in written.as_object().unwrap() {
            assert_eq!(&again[name], value, "{name}");
        }
    }
}
