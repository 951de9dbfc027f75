//! Questions of a running tool to the person or the client behind its call.
//!
//! A run does not wait for an answer. A question without an answer ends the run; when the client has answered, the tool runs
//! again from its start, and the question returns the answer at once. So a tool asks before it does what must not be done twice.

use std::fmt;

use serde_json::{Map, Value, json};

pub use crate::bindings::lathe::tool::interaction::ErrorCode as InputErrorCode;

/// A question to the person or the client behind the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    method: &'static str,
    params: Map<String, Value>,
}

/// The result of a question: what the person did, what the model wrote, or the directories of the client.
#[derive(Debug, Clone, PartialEq)]
pub struct InputResult(pub(crate) Value);

/// The host refused questions. The run may continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// `Unavailable`: the call has no client, or its client did not declare the ability.
    pub code: InputErrorCode,
    pub message: String,
}

impl Question {
    /// A form for the person. `properties` are JSON Schemas of texts, numbers, booleans and choices, by field name.
    pub fn form(message: impl Into<String>, properties: Value) -> Self {
        let schema = json!({"type": "object", "properties": properties});
        Self::of("elicitation/create", json!({"mode": "form", "message": message.into(), "requestedSchema": schema}))
    }

    /// A page that the person visits. The tool does not learn what they enter there.
    pub fn visit(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::of("elicitation/create", json!({"mode": "url", "message": message.into(), "url": url.into()}))
    }

    /// A request to the model of the client. [`Question::with`] sets other parameters, such as `systemPrompt`.
    pub fn sampling(prompt: impl Into<String>, max_tokens: u32) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt.into()}});
        Self::of("sampling/createMessage", json!({"messages": [message], "maxTokens": max_tokens}))
    }

    /// A request for the directories that the client works in.
    pub fn roots() -> Self {
        Self::of("roots/list", json!({}))
    }

    /// Sets the fields of a form that the person has to fill in.
    #[must_use]
    pub fn required(mut self, fields: &[&str]) -> Self {
        if let Some(schema) = self.params.get_mut("requestedSchema") {
            schema["required"] = json!(fields);
        }
        self
    }

    /// Sets a parameter of the request.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn body(&self) -> String {
        json!({"method": self.method, "params": self.params}).to_string()
    }

    fn of(method: &'static str, params: Value) -> Self {
        let params = if let Value::Object(params) = params { params } else { Map::new() };
        Self { method, params }
    }
}

impl InputResult {
    /// Whether the person accepted.
    pub fn is_accepted(&self) -> bool {
        self.0["action"] == "accept"
    }

    /// A field of the form, or `None` if the person did not accept it or left the field out.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.0["content"].get(name).filter(|_| self.is_accepted())
    }

    /// The text that the model wrote.
    pub fn text(&self) -> Option<&str> {
        self.0["content"]["text"].as_str()
    }

    /// The URIs of the directories that the client works in.
    pub fn roots(&self) -> Vec<&str> {
        let roots = self.0["roots"].as_array().map_or(&[][..], Vec::as_slice);
        roots.iter().filter_map(|root| root["uri"].as_str()).collect()
    }

    /// The whole result, in the shape of MCP.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

impl InputError {
    pub(crate) fn new(code: InputErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answer_question, context};

    #[test]
    fn a_test_answers_by_key() {
        answer_question("name", json!({"action": "accept", "content": {"name": "Ada"}}));
        answer_question(
            "capital",
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}),
        );
        let name = Question::form("Your name?", json!({"name": {"type": "string"}})).required(&["name"]);
        let asked = [("name", name), ("capital", Question::sampling("The capital of France?", 10))];
        let [name, capital] = context().request_inputs(&asked).unwrap().try_into().unwrap();
        assert_eq!((name.field("name"), capital.text()), (Some(&json!("Ada")), Some("Paris")));
        assert!(name.is_accepted() && name.field("age").is_none());
        let refused = context().request_input("roots", &Question::roots()).unwrap_err();
        assert_eq!(refused.code, InputErrorCode::Unavailable);
    }

    #[test]
    fn questions_have_the_shape_of_the_protocol() {
        let form = Question::form("Go?", json!({"ok": {"type": "boolean"}})).required(&["ok"]);
        let body: Value = serde_json::from_str(&form.body()).unwrap();
        assert_eq!(body["params"]["requestedSchema"]["required"], json!(["ok"]));
        let sampling = Question::sampling("Hi", 5).with("systemPrompt", "Be brief.");
        let body: Value = serde_json::from_str(&sampling.body()).unwrap();
        assert_eq!((&body["method"], &body["params"]["maxTokens"]), (&json!("sampling/createMessage"), &json!(5)));
        assert_eq!(body["params"]["systemPrompt"], "Be brief.");
    }
}
