//! Calls of tools with several APIs, and the report that the build compares with the manifest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bindings::{self, ToolError};
use crate::entry_point::{run, schema};
use crate::{Context, Error};

/// The input of a call of an API.
#[derive(Deserialize)]
struct ApiCall<Input> {
    arguments: Input,
}

/// Returns the name of the API that is called, empty if there is none.
pub fn api_name(call: &bindings::Context) -> String {
    #[derive(Deserialize)]
    struct Named {
        api: String,
    }
    serde_json::from_str(&call.tool_input).map(|Named { api }| api).unwrap_or_default()
}

/// Calls the function of an API with the arguments of the call.
pub fn run_api<Input: DeserializeOwned, Output: Serialize>(
    call: bindings::Context,
    function: impl FnOnce(Input, &Context) -> Result<Output, Error>,
) -> Result<String, ToolError> {
    run(call, |ApiCall { arguments }, context: &Context| function(arguments, context))
}

pub fn unknown_api(name: &str) -> ToolError {
    Error::new("UnknownApi", format!("`{name}` is no API of this tool: declare its APIs in `apis` of Cargo.toml"))
        .into()
}

/// Returns the JSON Schema of the first parameter of a function.
pub fn api_schema<Input: JsonSchema, Output>(_: impl FnOnce(Input, &Context) -> Result<Output, Error>) -> Value {
    schema::<Input>()
}

/// Describes the APIs of the code: their names, their file, and their schemas.
pub fn report<const COUNT: usize>(file: &str, schemas: [(&str, Value); COUNT]) -> String {
    let functions: Vec<_> = schemas.iter().map(|(name, _)| *name).collect();
    let module = json!({"file": file, "functions": functions});
    json!({"modules": {"run-tool": module}, "schemas": BTreeMap::from(schemas)}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(input: &str) -> bindings::Context {
        bindings::Context {
            tool_input: input.into(),
            metadata: String::new(),
            config: String::new(),
            conversation: String::new(),
            user_variables: String::new(),
        }
    }

    #[test]
    fn a_call_names_its_api() {
        assert_eq!(api_name(&call(r#"{"api": "create", "arguments": {}}"#)), "create");
        assert_eq!(api_name(&call(r#"{"item": "pen"}"#)), "");
    }

    #[test]
    fn a_report_has_functions_in_their_order_and_a_schema_for_each() {
        let schemas = [("list", json!({"type": "object"})), ("create", json!(true))];
        let report: Value = serde_json::from_str(&report("src/lib.rs", schemas)).expect("JSON");
        assert_eq!(report["modules"], json!({"run-tool": {"file": "src/lib.rs", "functions": ["list", "create"]}}));
        assert_eq!(report["schemas"], json!({"list": {"type": "object"}, "create": true}));
    }
}
