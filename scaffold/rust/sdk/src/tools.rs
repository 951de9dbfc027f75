//! Calls of other tools of the organisation, which `calls` in `Cargo.toml` lists. Each call is a run of its own with a record.
//! Calls that were started run in parallel.

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::bindings::lathe::tool::tools::ErrorCode;
use crate::host;
use crate::json::to_json;

/// Runs a tool, waits for its end and returns its output.
///
/// # Errors
/// When the call is refused, or the tool fails.
pub fn call(name: &str, arguments: &impl Serialize) -> Result<ToolOutput, ToolCallError> {
    start(name, arguments)?.finish()
}

/// Starts a call without waiting for its end.
///
/// # Errors
/// When the arguments are no JSON.
pub fn start(name: &str, arguments: &impl Serialize) -> Result<Call, ToolCallError> {
    let (_, text) = to_json(arguments).map_err(|refused| ToolCallError {
        code: ErrorCode::InvalidArguments,
        kind: None,
        message: refused.message("arguments"),
    })?;
    Ok(Call { exchange: host::start_call(name, &text), is_over: false })
}

/// A call in progress. Dropping it cancels the run of the tool.
#[derive(Debug)]
pub struct Call {
    exchange: host::Exchange,
    is_over: bool,
}

/// The output of a tool: a text, or any other value as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput(pub String);

/// The reason why a call has no output.
#[derive(Debug, Clone)]
pub struct ToolCallError {
    pub code: ErrorCode,
    /// The type of the exception that a failed tool raised.
    pub kind: Option<String>,
    pub message: String,
}

impl Call {
    /// Waits for the end of the run and returns the output.
    ///
    /// # Errors
    /// When the call is refused, or the tool fails.
    pub fn finish(mut self) -> Result<ToolOutput, ToolCallError> {
        self.is_over = true;
        host::finish_call(self.exchange).map(ToolOutput)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            host::cancel(self.exchange);
        }
    }
}

impl ToolOutput {
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Decodes the output as JSON.
    ///
    /// # Errors
    /// When it is no JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

impl std::fmt::Display for ToolCallError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ToolCallError {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;
    use crate::testing::answer_calls;

    #[test]
    fn a_test_answers_calls() {
        answer_calls(|name, arguments| match name {
            "weather" => Ok(json!({"asked": arguments}).to_string()),
            _ => Err(ToolCallError { code: ErrorCode::Denied, kind: None, message: format!("no tool {name}") }),
        });
        let output = call("weather", &json!({"city": "Paris"})).unwrap();
        assert_eq!(output.json::<Value>().unwrap(), json!({"asked": {"city": "Paris"}}));
        let refused = call("other", &json!({})).unwrap_err();
        assert_eq!((refused.code, refused.to_string().as_str()), (ErrorCode::Denied, "no tool other"));
    }

    #[test]
    fn arguments_that_json_would_change_are_refused_with_their_place() {
        let refused = call("pay", &BTreeMap::from([("amount", f64::NAN)])).unwrap_err();
        let message = "arguments.amount cannot be written as JSON: NaN is not a JSON number";
        assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::InvalidArguments, message));
    }

    #[test]
    fn calls_run_beside_each_other() {
        answer_calls(|name, _| Ok(name.to_owned()));
        let (one, two) = (start("one", &json!({})).unwrap(), start("two", &json!({})).unwrap());
        assert_eq!((two.finish().unwrap().text(), one.finish().unwrap().text()), ("two", "one"));
    }
}
