//! What a run keeps of its input while it waits for a place.

use registry::{InvocationMode, RecordedInput, SecretValue};

use crate::host::variables;
use crate::{Error, Input};

/// An input as the sandbox takes it. A parsed document is up to some twenty times as large as its text, and many may
/// wait.
pub(crate) struct Documents {
    pub(crate) mode: InvocationMode,
    pub(crate) tool_input: String,
    pub(crate) user_variables: String,
    /// Values that must not be stored.
    pub(crate) sensitive: Vec<SecretValue>,
}

impl Documents {
    /// # Errors
    /// None that an input from outside could cause.
    pub(crate) fn of(input: &Input) -> Result<Self, Error> {
        let mut tool_input =
            serde_json::to_string(&input.input_parameters).map_err(|error| Error::internal(error.to_string()))?;
        // It grew by doubling.
        tool_input.shrink_to_fit();
        let sensitive = input.sensitive_user_variables.values().cloned().map(SecretValue::new).collect();
        Ok(Self {
            mode: input.invocation_mode,
            tool_input,
            user_variables: variables::user_variables(input),
            sensitive,
        })
    }
}

/// The rest of an input: what is kept for good.
pub(crate) fn recorded(input: Input) -> RecordedInput {
    let Input { input_parameters, nonsensitive_user_variables, sensitive_user_variables, .. } = input;
    RecordedInput::redacting(input_parameters, nonsensitive_user_variables, sensitive_user_variables.keys())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_keeps_text_no_larger_than_it_is() {
        let parameters = json!({"b": vec![0; 1_000], "a": {"é\n": [null, 1.5, "x"]}});
        let input = Input {
            input_parameters: parameters.as_object().unwrap().clone(),
            invocation_mode: InvocationMode::Regular,
            nonsensitive_user_variables: [("region".to_owned(), "north".to_owned())].into(),
            sensitive_user_variables: [("pin".to_owned(), "1234".to_owned())].into(),
        };
        let documents = Documents::of(&input).unwrap();
        assert_eq!(documents.tool_input, parameters.to_string());
        assert_eq!(documents.tool_input.capacity(), documents.tool_input.len());
        assert_eq!(documents.user_variables, r#"{"nonsensitive":{"region":"north"},"sensitive":{"pin":"1234"}}"#);
        let recorded = recorded(input);
        assert_eq!(serde_json::Value::Object(recorded.input_parameters.clone()), parameters);
        assert!(!serde_json::to_string(&recorded).unwrap().contains("1234"));
    }
}
