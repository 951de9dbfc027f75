//! What a model is told and what it answers, in a form of our own. Each API has its form of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An entry of the transcript of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Entry {
    /// What the model is told.
    User { text: String },
    /// What the model answered.
    Model { text: String, calls: Vec<ModelCall> },
    /// What came of a call.
    Observation { call: String, text: String, is_error: bool },
}

/// A call of a tool for which a model asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The id of the call in the transcript. Empty for a call that a model wrote as text.
    pub id: String,
    pub name: String,
    pub input: Map<String, Value>,
    /// What is wrong with the arguments, which are no object then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

/// A question to a model.
#[derive(Debug)]
pub struct ModelRequest<'a> {
    /// The model, instead of that of the settings.
    pub model: Option<&'a str>,
    pub system: &'a str,
    pub transcript: &'a [Entry],
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
        match serde_json::from_str(arguments) {
            Ok(input) => Self { id, name, input, problem: None },
            Err(error) => {
                let problem = Some(format!("the arguments are not a JSON object: {error}"));
                Self { id, name, input: Map::new(), problem }
            }
        }
    }

    pub(super) fn arguments(&self) -> String {
        Value::Object(self.input.clone()).to_string()
    }
}
