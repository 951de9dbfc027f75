//! Calls the author's function for a call of the host.

use std::io::Write;
use std::panic::{self, PanicHookInfo};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::{self, ToolError};
use crate::json::{Kind, to_json};
use crate::{Context, Error};

/// Parses the documents of the call, calls the function, and returns the text of the output.
pub fn run<Input: DeserializeOwned, Output: Serialize>(
    call: bindings::Context,
    tool: impl FnOnce(Input, &Context) -> Result<Output, Error>,
) -> Result<String, ToolError> {
    panic::set_hook(Box::new(say));
    try_run(&call, tool).map_err(ToolError::from)
}

fn try_run<Input: DeserializeOwned, Output: Serialize>(
    call: &bindings::Context,
    tool: impl FnOnce(Input, &Context) -> Result<Output, Error>,
) -> Result<String, Error> {
    let input = serde_json::from_str(&call.tool_input)
        .map_err(|error| Error::new("InputError", format!("the input does not fit its type: {error}")))?;
    let context = Context {
        metadata: serde_json::from_str(&call.metadata)?,
        config: serde_json::from_str(&call.config)?,
        conversation: serde_json::from_str(&call.conversation)?,
        user_variables: serde_json::from_str(&call.user_variables)?,
    };
    output(&tool(input, &context)?)
}

/// Returns a string unchanged, and any other JSON value as compact JSON.
fn output(value: &impl Serialize) -> Result<String, Error> {
    let written = to_json(value).map_err(|refused| Error::new("UnserialisableResult", refused.message("result")))?;
    match written {
        (Kind::Nothing, _) => Err(Error::new("NoResult", "run_tool returns nothing: return a string or a JSON value")),
        (Kind::Text, text) => Ok(serde_json::from_str(&text)?),
        (Kind::Other, text) => Ok(text),
    }
}

/// Returns the JSON Schema of the function's first parameter.
pub fn input_schema<Input: JsonSchema, Output>(_: impl FnOnce(Input, &Context) -> Result<Output, Error>) -> String {
    schema::<Input>().to_string()
}

pub fn schema<Input: JsonSchema>() -> Value {
    schemars::schema_for!(Input).to_value()
}

/// Prints a panic, which then ends the instance. The host reads the message and the position from the printed text.
fn say(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    // If the text cannot be printed, the host has no message.
    drop(writeln!(std::io::stderr(), "panicked at {place}: {message}"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const fn json_with_nan() -> [f64; 2] {
        [1.0, f64::NAN]
    }

    #[test]
    fn strings_stay_as_they_are_and_values_become_compact() {
        assert_eq!(output(&"a \"b\"").as_deref(), Ok("a \"b\""));
        assert_eq!(output(&json!({"b": [1, 2.5], "a": "é"})).as_deref(), Ok(r#"{"a":"é","b":[1,2.5]}"#));
        let refused = output(&json_with_nan()).unwrap_err();
        assert_eq!(refused.kind(), "UnserialisableResult");
        assert_eq!(refused.message(), "result[1] cannot be written as JSON: NaN is not a JSON number");
        assert_eq!(output(&()).unwrap_err().kind(), "NoResult");
        assert_eq!(output(&None::<u8>).unwrap_err().kind(), "NoResult");
    }
}
