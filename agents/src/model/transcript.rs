//! What a model is told and what it answers, in a form of our own. Each API has its form of it.

use bytes::Bytes;
use registry::RawJson;
use runner::{NESTING_LEVELS_MAX, nests_within};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Characters of a tool's name. The APIs refuse longer ones.
const NAME_CHARACTERS_MAX: usize = 64;

/// An entry of the transcript of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum TranscriptEntry {
    /// What the model is told.
    User { text: String },
    /// What the model answered.
    Model { text: String, calls: Vec<ModelCall> },
    /// The result of a call.
    Observation { call: String, text: String, is_error: bool },
}

/// A call of a tool for which a model asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The id of the call in the transcript. Empty for a call that a model wrote as text.
    pub id: String,
    pub name: String,
    /// The arguments, an object. They stay text: a run keeps its transcript for hours.
    #[serde(deserialize_with = "read_arguments")]
    pub input: RawJson,
    /// What is wrong with the arguments. The call is not made then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    /// JSON, which other requests may share.
    pub input_schema: Bytes,
}

/// A question to a model.
#[derive(Debug)]
pub struct ModelRequest<'a> {
    /// The model, instead of that of the settings.
    pub model: Option<&'a str>,
    pub system: &'a str,
    pub transcript: &'a [TranscriptEntry],
    pub tools: &'a [ToolDefinition],
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<ModelCall>,
    /// Tokens of the question and of the answer.
    pub tokens: u64,
}

impl ModelCall {
    /// A call whose arguments arrived as text.
    pub(super) fn of_text(id: String, name: String, arguments: &str) -> Self {
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        match RawJson::parse_object(arguments).and_then(|input| input.members()) {
            Ok(input) => Self::of_input(id, name, input),
            Err(error) => {
                let problem = Some(format!("the arguments are not a JSON object: {error}"));
                Self { id, name, input: RawJson::default(), problem }
            }
        }
    }

    /// A call whose arguments arrived as an object.
    fn of_input(id: String, name: String, input: Map<String, Value>) -> Self {
        if input.values().all(|value| nests_within(value, NESTING_LEVELS_MAX - 1)) {
            return Self { id, name, input: input.into(), problem: None };
        }
        let problem = Some("the arguments nest too deeply".to_owned());
        Self { id, name, input: RawJson::default(), problem }
    }

    /// The parsed arguments. Their nesting was checked when they arrived.
    pub fn members(&self) -> Map<String, Value> {
        self.input.members().unwrap_or_default()
    }

    /// The name in a form that the APIs accept. A model may invent names, which they would refuse in a transcript.
    pub(super) fn to_accepted_name(&self) -> String {
        let accepted = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let letters = self.name.chars().take(NAME_CHARACTERS_MAX);
        let name: String = letters.map(|letter| if accepted(letter) { letter } else { '_' }).collect();
        if name.is_empty() { "_".to_owned() } else { name }
    }
}

/// Reads arguments out of a checkpoint. Its entries are told apart by a member, so that serde has parsed them already.
fn read_arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
    Map::<String, Value>::deserialize(deserializer).map(RawJson::from)
}

/// Marks the last call of an answer that ended at its bound of tokens, since its arguments may be incomplete.
pub(super) fn mark_cut_off(calls: &mut [ModelCall]) {
    if let Some(call) = calls.last_mut() {
        call.problem = Some("the answer was cut off at its bound of tokens".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> ModelCall {
        let lists = levels - 1;
        let arguments = format!(r#"{{"x": {}{}}}"#, "[".repeat(lists), "]".repeat(lists));
        ModelCall::of_text("c1".into(), "look_up".into(), &arguments)
    }

    #[test]
    fn arguments_have_a_bounded_depth() {
        let deepest = nested(NESTING_LEVELS_MAX);
        assert_eq!((deepest.members().len(), deepest.problem), (1, None));
        let deeper = nested(NESTING_LEVELS_MAX + 1);
        assert_eq!((deeper.members().len(), deeper.problem.as_deref()), (0, Some("the arguments nest too deeply")));
        assert!(nested(200).problem.is_some());
    }

    #[test]
    fn arguments_have_one_meaning() {
        for ambiguous in [r#"{"a": 1, "a": 2}"#, r#"{"a": 18446744073709551616}"#] {
            let call = ModelCall::of_text("c1".into(), "pay".into(), ambiguous);
            assert!(call.members().is_empty() && call.problem.is_some(), "{ambiguous}");
        }
    }

    #[test]
    fn an_entry_is_read_back_from_a_checkpoint() {
        let call = ModelCall::of_text("c1".into(), "pay".into(), r#"{"to": ["ä", {}], "amount": 1.50}"#);
        let entry = TranscriptEntry::Model { text: "x".into(), calls: vec![call] };
        let written = serde_json::to_string(&entry).unwrap();
        assert!(written.contains(r#""input":{"amount":1.5,"to":["ä",{}]}"#), "{written}");
        assert_eq!(serde_json::from_str::<TranscriptEntry>(&written).unwrap(), entry);
    }

    #[test]
    fn names_are_written_in_a_form_that_is_accepted() {
        let long = "x".repeat(100);
        let long = (long.as_str(), &long[..64]);
        for (name, accepted) in [("look_up-2", "look_up-2"), ("look up!", "look_up_"), ("é", "_"), ("", "_"), long] {
            let call = ModelCall::of_text("c1".into(), name.into(), "{}");
            assert_eq!(call.to_accepted_name(), accepted, "{name}");
        }
    }
}
