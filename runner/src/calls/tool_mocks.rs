//! Answers to a run's calls of other tools, which a check gives in their place.

use std::collections::BTreeMap;
use std::sync::Arc;

use registry::{Constraint, ToolName, did_you_mean};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpSender};
use crate::sandbox::tool_call::{ToolCall, answer};
use crate::text::cut;

/// Bytes of the arguments of a call without an answer that a message repeats.
const ARGUMENTS_BYTES_MAX: usize = 200;

/// The call of a tool, and the result that it has in a check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolMock {
    pub tool: ToolName,
    /// The arguments of the call. Without them, any arguments match.
    pub arguments: Option<Map<String, Value>>,
    /// A text is returned as it is, any other value as JSON.
    pub output: Option<Value>,
    /// The exception of the tool.
    pub error: Option<ToolMockError>,
}

/// The exception of a tool that fails.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolMockError {
    pub exception_type: String,
    #[serde(default)]
    pub message: String,
}

impl ToolMock {
    /// The reason why the mock can answer no call.
    #[must_use]
    pub fn problem(&self) -> Option<&'static str> {
        let is_one = self.output.is_some() != self.error.is_some();
        (!is_one).then_some("it needs one of output and error, and not both")
    }
}

/// The tools that a version may call, and the answers to its calls.
struct MockedTools {
    declared: BTreeMap<ToolName, Constraint>,
    mocks: Vec<ToolMock>,
}

/// Adds the mocks of tools to a sender of HTTP requests.
pub(crate) fn with_tool_mocks(
    http: HttpSender,
    declared: &BTreeMap<ToolName, Constraint>,
    mocks: &[ToolMock],
) -> HttpSender {
    let tools = Arc::new(MockedTools { declared: declared.clone(), mocks: mocks.to_vec() });
    Arc::new(move |request| match ToolCall::of(&request) {
        None => http(request),
        Some(call) => Box::pin(std::future::ready(tools.answer(&call))),
    })
}

/// Names a call without an answer, for the author of a check.
pub(crate) fn describe(call: &ToolCall) -> String {
    let arguments = cut(call.arguments.clone(), ARGUMENTS_BYTES_MAX);
    format!("the call of the tool {} with {arguments}, for which `tool_mocks` of the check has no answer", call.name)
}

impl MockedTools {
    fn answer(&self, call: &ToolCall) -> HttpAnswer {
        if !self.declared.keys().any(|name| name.as_str() == call.name) {
            let meant = did_you_mean(&call.name, self.declared.keys().map(ToolName::as_str));
            let message = format!("`calls` of the version does not list this tool{meant}");
            return Err(HttpError::new(HttpErrorCode::Denied, message));
        }
        let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments).map_err(|error| {
            HttpError::new(HttpErrorCode::InvalidRequest, format!("the arguments are not a JSON object: {error}"))
        })?;
        let matches = |mock: &&ToolMock| {
            mock.tool.as_str() == call.name && mock.arguments.as_ref().is_none_or(|expected| *expected == arguments)
        };
        let found = self.mocks.iter().find(matches);
        let mock =
            found.ok_or_else(|| HttpError::new(HttpErrorCode::Simulated, format!("no answer: {}", describe(call))))?;
        Ok(answer(match (&mock.error, &mock.output) {
            (Some(ToolMockError { exception_type, message }), _) => Err((exception_type.clone(), message.clone())),
            (None, Some(Value::String(text))) => Ok(text.clone()),
            (None, output) => Ok(output.as_ref().unwrap_or(&Value::Null).to_string()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sandbox::tool_call::answer_of;

    fn tools(mocks: Value) -> MockedTools {
        let name = ToolName::parse("weather").unwrap();
        let declared = BTreeMap::from([(name, Constraint::parse("").unwrap())]);
        MockedTools { declared, mocks: serde_json::from_value(mocks).unwrap() }
    }

    #[test]
    fn the_first_matching_mock_answers_a_call() {
        let tools = tools(json!([
            {"tool": "weather", "arguments": {"city": "Oslo"}, "output": {"degrees": -3}},
            {"tool": "weather", "arguments": {"city": "Atlantis"}, "error": {"exception_type": "KeyError", "message": "no city"}},
            {"tool": "weather", "output": "sunny"},
        ]));
        let call = |name: &str, arguments: Value| {
            answer_of(tools.answer(&ToolCall { name: name.to_owned(), arguments: arguments.to_string() }))
        };
        assert_eq!(call("weather", json!({"city": "Oslo"})).unwrap(), r#"{"degrees":-3}"#);
        assert_eq!(call("weather", json!({"city": "Paris"})).unwrap(), "sunny");
        let failed = call("weather", json!({"city": "Atlantis"})).unwrap_err();
        assert_eq!((failed.kind.as_deref(), failed.message.as_str()), (Some("KeyError"), "no city"));
        let undeclared = call("wether", json!({})).unwrap_err();
        assert!(undeclared.message.ends_with("did you mean `weather`?"), "{undeclared:?}");
        assert!(call("weather", json!([])).is_err());
    }

    #[test]
    fn a_mock_has_one_result() {
        let problem = |mock: Value| serde_json::from_value::<ToolMock>(mock).unwrap().problem();
        assert!(problem(json!({"tool": "weather"})).is_some());
        assert!(problem(json!({"tool": "weather", "output": 1, "error": {"exception_type": "E"}})).is_some());
        assert_eq!(problem(json!({"tool": "weather", "output": 1})), None);
    }
}
