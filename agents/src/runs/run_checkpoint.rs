//! The checkpoint of a run: its options, its transcript, its memory and its stage.

use std::collections::BTreeMap;

use registry::{CallerNames, ClientName, Digest, RawJson, RunId, Timestamp};
use runner::{Depth, cut_text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::pending_calls::{CallDialogue, PendingCalls};
use super::run_options::AgentRunOptions;
use super::run_stage::{CompletedRun, FinalAnswer, OpenQuestion, RunFailure, RunStage};
use super::stuck::Repeated;
use crate::error::Error;
use crate::model::{ModelCall, TranscriptEntry};

/// Bytes of an observation that the model sees.
const OBSERVATION_BYTES_MAX: usize = 20_000;

const CREATES_TASKS: &str = "task_create";
/// The result of a call that is not made any more.
const NOT_MADE: &str = "not made";

/// The checkpoint of a run, from which any server goes on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunCheckpoint {
    pub options: AgentRunOptions,
    /// `None` for a run of a model.
    pub single_call: Option<SingleCall>,
    pub tokens: u64,
    /// The runs of workflows that this run has started. A server that ended may not have begun the last one.
    pub triggered_runs: Vec<RunId>,
    pub(super) transcript: Vec<TranscriptEntry>,
    pub(super) memory: BTreeMap<String, Remembered>,
    pub(super) repeated: Repeated,
    /// Requests to people so far.
    pub(super) requests: u32,
    pub(super) stage: RunStage,
}

/// The call of a run without a model, of which a client asks for the result later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SingleCall {
    /// The name for models.
    pub tool: String,
    pub client: Option<ClientName>,
    /// The component that the client pins.
    pub pinned: Option<Digest>,
}

/// A value of the memory of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Remembered {
    pub value: Value,
    /// Milliseconds since 1970.
    pub stored_at: i64,
    pub expires_at: Option<i64>,
}

impl RunCheckpoint {
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
            single_call: None,
            tokens: 0,
            triggered_runs: Vec::new(),
            transcript: vec![TranscriptEntry::User { text }],
            memory: BTreeMap::new(),
            repeated: Repeated::default(),
            requests: 0,
            stage: RunStage::AskingModel,
        }
    }

    /// The beginning of a run of one call.
    pub(super) fn of_call(
        call: SingleCall,
        input: RawJson,
        names: CallerNames,
        depth: Depth,
        dialogue: CallDialogue,
    ) -> Self {
        let (name, objective) = (call.tool.clone(), format!("A call of {}", call.tool));
        let tools = Some(vec![name.clone()]);
        let options = AgentRunOptions { tools, names, depth, ..AgentRunOptions::new(objective) };
        let only = ModelCall { id: "call_1".to_owned(), name, input, problem: None };
        let stage = RunStage::before(PendingCalls { call: only, dialogue, rest: Vec::new() });
        Self { single_call: Some(call), stage, ..Self::new(options) }
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

    /// The question to a person for which the run waits.
    #[must_use]
    pub const fn open_question(&self) -> Option<&OpenQuestion> {
        match &self.stage {
            RunStage::WaitingForPerson(open) => Some(open),
            _ => None,
        }
    }

    /// The final answer of a completed run of a model.
    #[must_use]
    pub const fn answer(&self) -> Option<&FinalAnswer> {
        match &self.stage {
            RunStage::Completed(CompletedRun::Answer(answer)) => Some(answer),
            _ => None,
        }
    }

    /// The record of the call of a completed run of one call.
    #[must_use]
    pub const fn recorded_call(&self) -> Option<&RunId> {
        match &self.stage {
            RunStage::Completed(CompletedRun::Call(invocation)) => Some(invocation),
            _ => None,
        }
    }

    #[must_use]
    pub const fn failure(&self) -> Option<&RunFailure> {
        match &self.stage {
            RunStage::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// The calls that are made now.
    pub(super) const fn pending_calls(&self) -> Option<&PendingCalls> {
        match &self.stage {
            RunStage::Calling { calls, .. } => Some(calls),
            _ => None,
        }
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
            TranscriptEntry::Model { calls, .. } => calls.iter().any(|call| call.id == id),
            _ => false,
        })
    }

    /// Adds the result of the first of these calls. The others are made then, or the model is asked.
    pub(super) fn observe(&mut self, calls: PendingCalls, text: String, is_error: bool) {
        self.push_observation(calls.call, text, is_error);
        self.stage = RunStage::of_calls(calls.rest);
    }

    /// Adds a text for the model, which is asked then. Calls that are left are not made: every call needs a result before another
    /// text.
    pub(super) fn push_user_message(&mut self, text: String, not_made: Vec<ModelCall>) {
        for call in not_made {
            self.push_observation(call, NOT_MADE.to_owned(), true);
        }
        self.transcript.push(TranscriptEntry::User { text });
        self.stage = RunStage::AskingModel;
    }

    /// Adds the result of a call to the transcript.
    pub(super) fn push_observation(&mut self, call: ModelCall, text: String, is_error: bool) {
        let text = cut_text(text, OBSERVATION_BYTES_MAX);
        self.transcript.push(TranscriptEntry::Observation { call: call.id, text, is_error });
    }

    /// Ends the run with an answer, which becomes part of the context.
    pub(super) fn complete(&mut self, answer: FinalAnswer) {
        let AgentRunOptions { context, result_key, .. } = &mut self.options;
        context.insert(result_key.clone(), json!(answer));
        self.stage = RunStage::Completed(CompletedRun::Answer(answer));
    }

    /// Ends a run of one call with its record, which has the result.
    pub(super) fn complete_call(&mut self, invocation: RunId) {
        self.clear();
        self.stage = RunStage::Completed(CompletedRun::Call(invocation));
    }

    pub(super) fn fail(&mut self, code: &str, message: impl Into<String>) {
        self.stage = RunStage::Failed(RunFailure { code: code.to_owned(), message: message.into() });
    }

    /// Drops what nobody reads after the end.
    pub(super) fn clear(&mut self) {
        self.transcript.clear();
        self.memory.clear();
    }

    /// Drops what has expired.
    pub(super) fn forget_expired(&mut self, now: Timestamp) {
        let now = now.as_milliseconds();
        self.memory.retain(|_, remembered| remembered.expires_at.is_none_or(|at| at > now));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use registry::HumanRequestId;

    use super::super::human::HumanQuestion;
    use super::super::run_stage::Asker;
    use super::*;

    fn model_call() -> impl Strategy<Value = ModelCall> {
        let problem = prop::option::of(any::<String>());
        (any::<String>(), any::<String>(), any::<u32>(), problem).prop_map(|(id, name, number, problem)| {
            let input = RawJson::parse_object(&json!({"number": number}).to_string()).unwrap();
            ModelCall { id, name, input, problem }
        })
    }

    fn pending_calls() -> impl Strategy<Value = PendingCalls> {
        let dialogue = (any::<bool>(), any::<u8>()).prop_map(|(is_asked, rounds)| {
            let mut dialogue = CallDialogue::default();
            (0..rounds).for_each(|_| dialogue.begin_round(is_asked.then(|| Digest::of(b"code"))));
            dialogue
        });
        let rest = prop::collection::vec(model_call(), 0..3);
        (model_call(), dialogue, rest).prop_map(|(call, dialogue, rest)| PendingCalls { call, dialogue, rest })
    }

    fn open_question() -> impl Strategy<Value = OpenQuestion> {
        let not_made = prop::collection::vec(model_call(), 0..3);
        let asker = prop_oneof![
            pending_calls().prop_map(|calls| Asker::Call(Box::new(calls))),
            not_made.prop_map(|not_made| Asker::StuckRun { not_made }),
        ];
        (any::<String>(), asker).prop_map(|(text, asker)| {
            let request = HumanRequestId::parse("691f3d1a5c1e4d7f8a9b0c22").unwrap();
            OpenQuestion { request, question: HumanQuestion::of_server(&text), asker }
        })
    }

    fn stage() -> impl Strategy<Value = RunStage> {
        let answer =
            (any::<String>(), 0_u32..=8, prop::option::of(any::<String>())).prop_map(|(answer, eighths, summary)| {
                FinalAnswer { answer, confidence: f64::from(eighths) / 8.0, summary }
            });
        let failure = (any::<String>(), any::<String>()).prop_map(|(code, message)| RunFailure { code, message });
        let invocation = RunId::parse("691f3c705c1e4d7f8a9b0c2e").unwrap();
        prop_oneof![
            Just(RunStage::AskingModel),
            (pending_calls(), any::<bool>()).prop_map(|(calls, has_begun)| RunStage::Calling { calls, has_begun }),
            open_question().prop_map(RunStage::WaitingForPerson),
            answer.prop_map(|answer| RunStage::Completed(CompletedRun::Answer(answer))),
            Just(RunStage::Completed(CompletedRun::Call(invocation))),
            failure.prop_map(RunStage::Failed),
        ]
    }

    proptest! {
        #[test]
        fn each_stage_reads_back_as_written(stage in stage()) {
            let options = AgentRunOptions::new("Find it.".to_owned());
            let checkpoint = RunCheckpoint { stage, ..RunCheckpoint::new(options) };
            let written = checkpoint.written().unwrap();
            let read = RunCheckpoint::read(&written).unwrap();
            prop_assert_eq!(&read.stage, &checkpoint.stage);
            prop_assert_eq!(read.written().unwrap(), written);
        }
    }

    #[test]
    fn a_text_for_the_model_ends_the_calls_that_are_left() {
        let call = |id: &str| ModelCall { id: id.into(), name: "a".into(), input: RawJson::default(), problem: None };
        let mut checkpoint = RunCheckpoint::new(AgentRunOptions::new("Find it.".to_owned()));
        let calls = PendingCalls::of(vec![call("one"), call("two")]).unwrap();
        checkpoint.observe(calls, "1".to_owned(), false);
        let Some(PendingCalls { call: next, rest, .. }) = checkpoint.pending_calls().cloned() else {
            panic!("the second call is made next")
        };
        assert_eq!((next.id.as_str(), rest.len()), ("two", 0));
        checkpoint.push_user_message("Hint".to_owned(), vec![next]);
        assert_eq!(checkpoint.stage, RunStage::AskingModel);
        let observed = |call: &str, text: &str, is_error| TranscriptEntry::Observation {
            call: call.to_owned(),
            text: text.to_owned(),
            is_error,
        };
        let told = TranscriptEntry::User { text: "Hint".to_owned() };
        assert_eq!(checkpoint.transcript[1..], [observed("one", "1", false), observed("two", NOT_MADE, true), told]);
    }
}
